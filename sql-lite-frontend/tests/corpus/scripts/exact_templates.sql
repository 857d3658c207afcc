-- FX: a separator of the template stands for one character, whichever it is; fields still begin behind blanks.
select to_timestamp('2020-1-1', 'FXYYYY-MM-DD'), to_timestamp('2020  1 1', 'FXYYYY-MM-DD'), to_timestamp('2020- 1-1', 'FXYYYY-MM-DD'), to_timestamp('2020/01/01', 'FXYYYY-MM-DD');
select to_timestamp('2020 - 1 - 1', 'FXYYYY-MM-DD');
select to_timestamp('2020 - 1 - 1', 'YYYY-MM-DD'), to_timestamp('2020x01', 'FXYYYY-MM'), to_timestamp('2020 01', 'FXYYYY  MM');
select to_timestamp('2020--01', 'FXYYYY--MM'), to_date('01 02 2020', 'FXDD/MM/YYYY'), to_date('01.02.2020', 'DD FXMM YYYY');
select to_date('2020 x', 'FXYYYY-MM');
select to_char(date '2020-01-02', 'FXYYYY-MM-DD');
