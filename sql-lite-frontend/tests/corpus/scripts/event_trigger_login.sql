-- Event triggers of logins.
create table logins (is_own bool, event text, tag text);
create function note_login() returns event_trigger language plpgsql as $$
begin
  insert into logins values (session_user = current_user, tg_event, tg_tag); --
end $$;
create event trigger bad on login when tag in ('login') execute function note_login();
create event trigger bad on login when tag in ('nonsense') execute function note_login();
create event trigger bad on login when color in ('red') execute function note_login();
create event trigger bad on logins execute function note_login();
create event trigger at_login on login execute function note_login();
select evtname, evtevent, evtenabled, evttags, evtfoid::regproc from pg_event_trigger;
select * from logins;
create database home;
select current_database() = 'home';
-- connect: home
create table logins (is_own bool, event text, tag text);
create function note_login() returns event_trigger language plpgsql as $$
begin
  insert into logins values (session_user = current_user, tg_event, tg_tag); --
end $$;
create event trigger b_login on login execute function note_login();
create event trigger a_login on login execute function note_login();
create event trigger c_other on ddl_command_start execute function note_login();
alter event trigger c_other disable;
-- connect: home
select * from logins;
alter event trigger b_login disable;
-- connect: home
select * from logins;
alter event trigger a_login enable replica;
-- connect: home
select * from logins;
alter event trigger a_login enable always;
create table plain (a int);
-- connect: home
select * from logins;
drop event trigger a_login;
-- connect: home
select count(*) from logins;
drop event trigger b_login;
drop event trigger c_other;
