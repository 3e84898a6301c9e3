-- Statements of migrations, and of the checks before a relay starts.

-- name: hasSettingsTable
-- Accepts only a table, because a view of that name would run functions of its owner.
SELECT pg_catalog.to_regclass('outbox_schema.settings') IN (
  SELECT oid FROM pg_catalog.pg_class WHERE relkind = 'r'
) AS there;

-- name: readVersion
-- A schema of a build before the first release has no column format. The statement calls no operator, because another role could
-- create an operator with this name.
SELECT version, pg_catalog.jsonb_object_field_text(pg_catalog.to_jsonb(s), 'format') AS format FROM outbox_schema.settings s;

-- name: lockMigrations
-- Makes concurrent migrations of one schema wait for each other.
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('outbox_schema'), -1);

-- name: findForeignOwner
-- Returns a row if the schema belongs to a role that the current role is not a member of.
SELECT nspowner::regrole::text AS owner, current_user::text AS role FROM pg_catalog.pg_namespace
WHERE nspname = 'outbox_schema' AND nspowner <> current_user::regrole
  AND (current_setting('is_superuser') = 'on' OR NOT pg_catalog.pg_has_role(nspowner, 'USAGE'));

-- name: readMigrationSettings
SELECT pg_catalog.current_setting('search_path') AS path, pg_catalog.current_setting('row_security') AS security,
  pg_catalog.current_setting('lock_timeout') AS timeout;

-- name: applyMigrationSettings
-- The settings end with the transaction.
SELECT pg_catalog.set_config('search_path', $1::pg_catalog.text, true),
  pg_catalog.set_config('row_security', $2::pg_catalog.text, true),
  pg_catalog.set_config('lock_timeout', $3::pg_catalog.text, true);

-- name: findRowSecurity
-- Lists the tables whose rows row level security hides from the current role.
SELECT relname FROM pg_catalog.pg_class
WHERE relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'outbox_schema')
  AND relkind IN ('r', 'p') AND pg_catalog.row_security_active(oid)
ORDER BY relname;

-- name: findMissingPermissions
SELECT privilege || ' on ' || name AS missing
FROM (
  VALUES ('SELECT', 'message'), ('SELECT', 'range'), ('UPDATE', 'range'), ('SELECT', 'settings'), ('SELECT', 'parked'),
    ('INSERT', 'parked'), ('UPDATE', 'parked'), ('DELETE', 'parked'), ('INSERT', 'rejected'), ('INSERT', 'ended'),
    ('SELECT', 'missing'), ('SELECT', 'sent'), ('SELECT', 'number'), ('UPDATE', 'sleeping')
) needed (privilege, relation), LATERAL (SELECT 'outbox_schema.' || relation AS name) n
WHERE CASE
  WHEN relation IN ('number', 'sleeping') THEN NOT pg_catalog.has_sequence_privilege(name, privilege)
  ELSE NOT (pg_catalog.has_table_privilege(name, privilege)
    AND pg_catalog.has_table_privilege(session_user, name, privilege))
END
UNION ALL
SELECT 'EXECUTE on ' || p.proname FROM pg_catalog.pg_proc p
WHERE p.pronamespace = 'outbox_schema'::regnamespace AND p.proname IN ('rotate', 'recognize', 'verify', 'lag')
  AND NOT pg_catalog.has_function_privilege(p.oid, 'EXECUTE');

-- name: readRole
SELECT current_user::text AS role;

-- name: readCacheSize
-- A sequence with a cache would not number rows in the order in which they are put.
SELECT cache_size FROM pg_catalog.pg_sequences WHERE schemaname = 'outbox_schema' AND sequencename = 'number';
