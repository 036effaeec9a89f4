import { quoteName } from '../database/migrate.ts'

/** Tables that only the owner writes. */
const OWNED = ['schema_version', 'move']
/** Tables whose rows never change: they are added, and retention may delete them. */
const LASTING = ['audit', 'effect', 'effect_key', 'effect_seal']
/** Tables with sealed secrets, or with hashes of them. */
const SECRET = ['account', 'admin_session', 'admin_token', 'capture', 'effect_key', 'endpoint_secret', 'login_code']

/**
 * SQL for the rights of two roles: `<schema>_app` may do what the processes do, `<schema>_read` may
 * read all but secrets. Its owner runs it after each migration.
 */
export function writeRoleSql(schema: string): string {
  const at = quoteName(schema)
  const [app, read] = [quoteName(`${schema}_app`), quoteName(`${schema}_read`)]
  const list = (tables: readonly string[]) => tables.map((table) => `${at}.${quoteName(table)}`).join(', ')
  const make = (role: string) =>
    `DO $$ BEGIN CREATE ROLE ${role} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;`
  return [
    ...[make(app), make(read)],
    `REVOKE ALL ON SCHEMA ${at} FROM PUBLIC;`,
    `REVOKE ALL ON ALL TABLES IN SCHEMA ${at} FROM PUBLIC, ${app}, ${read};`,
    `REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ${at} FROM PUBLIC;`,
    `GRANT USAGE ON SCHEMA ${at} TO ${app}, ${read};`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${at} TO ${app}, ${read};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${at} TO ${app};`,
    `REVOKE INSERT, UPDATE, DELETE ON ${list(OWNED)} FROM ${app};`,
    `REVOKE UPDATE ON ${list(LASTING)} FROM ${app};`,
    `GRANT SELECT ON ALL TABLES IN SCHEMA ${at} TO ${read};`,
    `REVOKE SELECT ON ${list(SECRET)} FROM ${read};`,
    '',
  ].join('\n')
}
