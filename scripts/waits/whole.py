"""Whether a catalog is whole: what refers by number to something that is not there, and what is left of names."""
import re

REFERENCES = """pg_class.relnamespace pg_namespace; pg_class.relowner pg_authid; pg_class.reltype pg_type; pg_attribute.attrelid pg_class;
pg_attribute.atttypid pg_type; pg_attribute.attcollation pg_collation; pg_type.typnamespace pg_namespace; pg_type.typowner pg_authid;
pg_type.typrelid pg_class; pg_type.typelem pg_type; pg_type.typarray pg_type; pg_type.typbasetype pg_type; pg_type.typcollation pg_collation;
pg_index.indexrelid pg_class; pg_index.indrelid pg_class; pg_constraint.conrelid pg_class; pg_constraint.confrelid pg_class;
pg_constraint.contypid pg_type; pg_constraint.conindid pg_class; pg_constraint.connamespace pg_namespace; pg_proc.pronamespace pg_namespace;
pg_proc.proowner pg_authid; pg_proc.prorettype pg_type; pg_trigger.tgrelid pg_class; pg_trigger.tgfoid pg_proc; pg_attrdef.adrelid pg_class;
pg_sequence.seqrelid pg_class; pg_rewrite.ev_class pg_class; pg_operator.oprleft pg_type; pg_operator.oprright pg_type;
pg_operator.oprcode pg_proc; pg_operator.oprnamespace pg_namespace; pg_operator.oprowner pg_authid; pg_aggregate.aggfnoid pg_proc; pg_aggregate.aggtransfn pg_proc;
pg_aggregate.aggfinalfn pg_proc; pg_aggregate.aggtranstype pg_type; pg_cast.castsource pg_type; pg_cast.casttarget pg_type; pg_cast.castfunc pg_proc;
pg_enum.enumtypid pg_type; pg_range.rngtypid pg_type; pg_range.rngsubtype pg_type; pg_range.rngmultitypid pg_type; pg_range.rngcollation pg_collation;
pg_collation.collnamespace pg_namespace; pg_collation.collowner pg_authid; pg_ts_config.cfgnamespace pg_namespace; pg_ts_config.cfgowner pg_authid;
pg_ts_config_map.mapcfg pg_ts_config; pg_ts_config_map.mapdict pg_ts_dict; pg_ts_dict.dictnamespace pg_namespace; pg_ts_dict.dictowner pg_authid;
pg_publication.pubowner pg_authid; pg_publication_rel.prpubid pg_publication; pg_publication_rel.prrelid pg_class;
pg_publication_namespace.pnpubid pg_publication; pg_publication_namespace.pnnspid pg_namespace; pg_statistic_ext.stxrelid pg_class;
pg_statistic_ext.stxnamespace pg_namespace; pg_statistic_ext.stxowner pg_authid; pg_auth_members.roleid pg_authid; pg_auth_members.member pg_authid;
pg_auth_members.grantor pg_authid; pg_db_role_setting.setrole pg_authid; pg_db_role_setting.setdatabase pg_database; pg_default_acl.defaclrole pg_authid;
pg_default_acl.defaclnamespace pg_namespace; pg_extension.extnamespace pg_namespace; pg_extension.extowner pg_authid; pg_namespace.nspowner pg_authid;
pg_database.datdba pg_authid; pg_policy.polrelid pg_class"""
ACLS = "pg_class.relacl pg_type.typacl pg_proc.proacl pg_namespace.nspacl pg_database.datacl pg_attribute.attacl pg_default_acl.defaclacl"
CATALOGS = "pg_class pg_type pg_proc pg_constraint pg_namespace pg_trigger pg_operator pg_collation pg_cast pg_attrdef pg_rewrite pg_extension pg_ts_dict pg_ts_config pg_publication pg_publication_rel pg_statistic_ext pg_publication_namespace pg_policy"

def columns_of():
    """Returns, by catalog, the catalogs to which its columns refer. Grantees and grantors are those of access lists, in
    one text."""
    found = {}
    for line in REFERENCES.split(";"):
        column, target = line.split()
        table, name = column.split(".")
        found.setdefault(table, []).append((name, target))
    for column in ACLS.split():
        table, name = column.split(".")
        found.setdefault(table, []).append((name, "acl"))
    found["pg_proc"].append(("proargtypes", "types"))
    found["pg_policy"].append(("polroles", "roles"))
    for table in CATALOGS.split() + [line.split()[1] for line in REFERENCES.split(";")]:
        found.setdefault(table, [])
    return found


HAS_OID = {"pg_class", "pg_type", "pg_proc", "pg_constraint", "pg_namespace", "pg_trigger", "pg_operator", "pg_collation", "pg_cast", "pg_attrdef", "pg_rewrite",
           "pg_extension", "pg_ts_dict", "pg_ts_config", "pg_publication", "pg_publication_rel", "pg_statistic_ext", "pg_publication_namespace", "pg_policy", "pg_authid", "pg_database"}
# Of catalogs without numbers of their own, which column says that the row is of something that a user made.
OWN = {"pg_attribute": "attrelid", "pg_index": "indexrelid", "pg_sequence": "seqrelid", "pg_aggregate": "aggfnoid", "pg_enum": "enumtypid", "pg_range": "rngtypid",
       "pg_ts_config_map": "mapcfg", "pg_db_role_setting": "setrole", "pg_auth_members": "member", "pg_default_acl": "defaclrole"}
COLUMNS = columns_of()


def queries():
    """Returns a query for each catalog, for a single message."""
    parts = []
    for table, columns in COLUMNS.items():
        key = "oid" if table in HAS_OID else OWN[table]
        words = [f"{key}::oid"] + [f"{name}::text" if target in ("types", "acl", "roles") else f"{name}::oid" for name, target in columns]
        # A column that was dropped keeps what its collation was.
        where = "attrelid >= 16384 and not attisdropped" if table == "pg_attribute" else "true" if table == "pg_namespace" else f"{key}::oid >= 16384"
        parts.append(f"select '{table}', {', '.join(words)} from {table} where {where}")
    parts.append("select 'pg_depend', classid, objid, refclassid, refobjid from pg_depend where objid >= 16384 or refobjid >= 16384")
    parts.append("select 'pg_description', classoid, objoid from pg_description where objoid >= 16384")
    parts.append("select 'classes', oid, relname from pg_class where oid < 16384 and relname in ('" + "', '".join(CATALOGS.split()) + "')")
    return "; ".join(parts)


def dangling(rows):
    """Returns the references to missing objects, in the results of queries()."""
    by_table = {}
    for row in rows:
        by_table.setdefault(row[0], []).append(row[1:])
    present = {table: {row[0] for row in by_table.get(table, [])} for table in COLUMNS if table in HAS_OID}
    classes = {oid: name for oid, name in by_table.get("classes", [])}
    wrong = []

    def look(what, target, oid):
        if oid is not None and int(oid) >= 16384 and oid not in present[target]:
            wrong.append(f"{what} {oid}")

    for table, columns in COLUMNS.items():
        for row in by_table.get(table, []):
            for value, (name, target) in zip(row[1:], columns):
                if target == "types":
                    for oid in (value or "").split():
                        look(f"{table}.{name}", "pg_type", oid)
                elif target == "roles":
                    for oid in (value or "").strip("{}").split(","):
                        look(f"{table}.{name}", "pg_authid", oid or None)
                elif target == "acl":
                    # A role that has gone is shown as its number.
                    if any(re.fullmatch(r"\d+", word) for item in (value or "").strip("{}").split(",") for word in re.split("[=/]", item)[::2]):
                        wrong.append(f"{table}.{name} {value}")
                else:
                    look(f"{table}.{name}", target, value)
    for class_of, oid, class_to, to in by_table.get("pg_depend", []):
        for catalog, number in ((class_of, oid), (class_to, to)):
            if catalog in classes:
                look(f"pg_depend on {classes[catalog]}", classes[catalog], number)
    for catalog, oid in by_table.get("pg_description", []):
        if catalog in classes:
            look(f"pg_description of {classes[catalog]}", classes[catalog], oid)
    return wrong


# Calls of every function that prints definitions, so that damage in them is found as well.
SHOWN = """select count(pg_get_viewdef(oid)) from pg_class where relkind in ('v', 'm') and oid >= 16384;
select count(pg_get_indexdef(indexrelid)) from pg_index where indexrelid >= 16384;
select count(pg_get_constraintdef(oid)) from pg_constraint where oid >= 16384;
select count(pg_get_triggerdef(oid)) from pg_trigger where oid >= 16384;
select count(pg_get_functiondef(oid)) from pg_proc where prokind in ('f', 'p') and oid >= 16384;
select count(pg_get_expr(adbin, adrelid)) from pg_attrdef where oid >= 16384;
select count(pg_get_expr(polqual, polrelid)), count(pg_get_expr(polwithcheck, polrelid)) from pg_policy"""

# Relations whose rows are asked for.
READABLE = """select quote_ident(n.nspname) || '.' || quote_ident(c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'v', 'm') and c.oid >= 16384 and n.nspname not like 'pg\\_%' order by 1"""

# The name, kind, type and rights of every object.
NAMES = """select 'c ' || n.nspname || '.' || c.relname || ' ' || c.relkind || ' ' || c.relowner::regrole || ' ' || coalesce(c.relacl::text, '') from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid >= 16384 and n.nspname not like 'pg\\_%' and c.relkind <> 'c'
union all select 'a ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || a.attnotnull from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'v', 'm', 'c') and c.oid >= 16384 and a.attnum > 0 and not a.attisdropped and n.nspname not like 'pg\\_%'
union all select 'f ' || p.oid::regprocedure || ' ' || p.prokind || ' ' || p.prorettype::regtype from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.oid >= 16384 and n.nspname not like 'pg\\_%' and not exists (select from pg_depend d where d.objid = p.oid and d.deptype in ('e', 'i'))
union all select 'k ' || conname || ' ' || contype from pg_constraint where oid >= 16384
union all select 't ' || tgname || ' ' || tgenabled from pg_trigger where oid >= 16384 and not tgisinternal
union all select 'q ' || polname || ' ' || polrelid::regclass || polcmd from pg_policy
union all select 'e ' || enumtypid::regtype || ' ' || enumlabel from pg_enum where enumtypid >= 16384
union all select 'y ' || t.oid::regtype from pg_type t join pg_namespace n on n.oid = t.typnamespace where t.oid >= 16384 and t.typtype in ('d', 'r', 'p') and n.nspname not like 'pg\\_%'
union all select 'n ' || nspname || ' ' || nspowner::regrole from pg_namespace where oid >= 16384 and nspname not like 'pg\\_%'
union all select 'o ' || oprname from pg_operator where oid >= 16384
union all select 'l ' || collname || collnamespace::regnamespace from pg_collation where oid >= 16384
union all select 's ' || cfgname from pg_ts_config where oid >= 16384 union all select 'd ' || dictname from pg_ts_dict where oid >= 16384
union all select 'p ' || pubname from pg_publication union all select 'x ' || pubname || ' ' || tablename || attnames::text from pg_publication_tables where schemaname in ('v', 'w')
union all select 'r ' || rolname || rolsuper || rolcreatedb from pg_roles where oid >= 16384 union all select 'm ' || roleid::regrole || ' ' || member::regrole from pg_auth_members where roleid >= 16384
union all select 'b ' || datname || ' ' || datdba::regrole from pg_database where datname like 'w\\_%' union all select 'g ' || extname || extnamespace::regnamespace from pg_extension order by 1"""

# Statements that empty a database for the next cell; the schemas first, since nearly all lies in them.
CLEANERS = """select format('drop schema %I cascade', nspname), 1 from pg_namespace where oid >= 16384 and nspname not like 'pg\\_%' union all
select format('drop publication %I', pubname), 2 from pg_publication union all
select format('drop extension if exists %I cascade', extname), 2 from pg_extension where oid >= 16384 union all
select format('drop owned by %1$I cascade; drop role %1$I', rolname), 3 from pg_roles where oid >= 16384 union all
select format('select pg_drop_replication_slot(%L)', slot_name), 4 from pg_replication_slots union all
select format('drop database %I', datname), 0 from pg_database where datname like 'w\\_%' order by 2"""
