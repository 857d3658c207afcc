-- inet and cidr: abbreviated networks, operators and functions.

create table n (a inet, b cidr);

insert into n values ('10.0.0.1', '10/8'), ('10.1/16', '192.168.1'), ('::1', '2001:db8::/32'), ('192.168.1.5/24', '224'), (null, '130');

select a, b, a << b, a <<= b, a >> b, a >>= b, a && b from n order by a, b;

select a, network(a), netmask(a), hostmask(a), broadcast(a), host(a), masklen(a), family(a), text(a) from n order by a;

select '10/16'::inet;

select '10'::inet;

select '10/8'::inet, '10.1.2/24'::inet, '10.1.2/25'::cidr, '240'::cidr, '223'::cidr, '128.1'::cidr, '1.2.3'::cidr;

select '10.0.0.1/8'::cidr;

select '10.0.0.256'::inet;

select '10.0.0.0/33'::inet;

select '1.2.3.4.5'::cidr;

select inet '10.0.0.250' + 10, 10 + inet '10.0.0.250', inet '10.0.0.5' - 10, inet '10.0.0.5' - inet '10.0.0.1', inet '10.0.0.1' - inet '10.0.0.5';

select inet '::ffff' + 1, inet '::1' - inet '::ffff:0:0', inet '10.0.0.1/24' + 300;

select inet '255.255.255.255' + 1;

select inet '0.0.0.0' - 1;

select inet 'ffff::' - inet '::';

select inet '10.0.0.1' - inet '::1';

select ~ inet '192.168.1.6', inet '192.168.1.6' & inet '0.0.0.255', inet '192.168.1.6/24' | inet '0.0.0.255/16';

select inet '10.0.0.1' & inet '::1';

select set_masklen('192.168.1.5/24', 16), set_masklen(inet '10.0.0.1', -1);

select set_masklen(inet '10.0.0.1', 33);

select inet_same_family('10.0.0.1', '::1'), inet_same_family('10.0.0.1', '10.0.0.2');

select count(*) from n where a << inet '10/8';
select min(a), max(a) from (values (inet '10.0.0.2'), (inet '::1'), (inet '10.0.0.2/31')) v (a) where masklen(a) in (32, 128);
select min(a), max(a) from (values ('10.0.0.2'::inet), ('10.0.0.10/8'), ('192.168.0.0/16'), (null)) v (a);
select max(a) from (values ('10.0.0.2'::inet)) v (a) where false;
select network_larger('10.0.0.1', '10.0.0.1/24'), network_smaller('10.0.0.1', '::1'), network_smaller('10.0.0.1'::cidr, '10.0.0.0/30');
select a, max(a) over (order by a) from (values ('10.0.0.2'::inet), ('10.0.0.10/8')) v (a);
select a from (values ('255.255.000.000/0'::inet), ('255.255.255.000/24'), ('010.001.000.255'), ('0.0.0.0/0'), ('00000.0.0.00')) v(a);
select '010.000/16'::cidr, '000010.1.2.3'::cidr;
select '255.255.000.000/0'::cidr;
select '0256.1.1.1'::inet;
select '1..2.3'::inet;
select '1.2.3.0x1'::inet;
