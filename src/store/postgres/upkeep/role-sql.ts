import { LEDGER, textTables } from '../../tables/upkeep/text-columns.ts'
import { textColumns } from '../../tables/upkeep/text-search.ts'
import { quoteName } from '../database/migrate.ts'

/** Tables that only the owner writes. */
const OWNED = ['schema_version', 'move']
/** Tables whose rows never change: they are added, and retention may delete them. */
const LASTING = ['audit', 'effect', 'effect_key', 'effect_seal']
/** Tables with sealed secrets, or with hashes of them. */
const SECRET = ['account', 'admin_session', 'admin_token', 'capture', 'effect_key', 'endpoint_secret', 'login_code']

type Roles = [app: string, read: string, erase: string]

/**
 * SQL for the rights of three roles: `<schema>_app` may do what the processes do, `<schema>_read`
 * may read all but secrets. `<schema>_erase` may erase text from lasting rows, too.
 * Its owner runs it after each migration.
 */
export function writeRoleSql(schema: string): string {
  const at = quoteName(schema)
  const [app, read, erase] = ['app', 'read', 'erase'].map((role) => quoteName(`${schema}_${role}`)) as Roles
  const list = (tables: readonly string[]) => tables.map((table) => `${at}.${quoteName(table)}`).join(', ')
  const make = (role: string) =>
    `DO $$ BEGIN CREATE ROLE ${role} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;`
  return [
    ...[app, read, erase].map(make),
    `REVOKE ALL ON SCHEMA ${at} FROM PUBLIC;`,
    `REVOKE ALL ON ALL TABLES IN SCHEMA ${at} FROM PUBLIC, ${app}, ${read}, ${erase};`,
    `REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ${at} FROM PUBLIC;`,
    `GRANT USAGE ON SCHEMA ${at} TO ${app}, ${read};`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${at} TO ${app}, ${read};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${at} TO ${app};`,
    `REVOKE INSERT, UPDATE, DELETE ON ${list(OWNED)} FROM ${app};`,
    `REVOKE UPDATE ON ${list(LASTING)} FROM ${app};`,
    `GRANT ${app} TO ${erase};`,
    ...textTables('event_body')
      .filter(({ table }) => LASTING.includes(table))
      .map((place) => {
        const columns = [...textColumns(place), ...(place.table === LEDGER.table ? ['erased'] : [])]
        return `GRANT UPDATE (${columns.map(quoteName).join(', ')}) ON ${list([place.table])} TO ${erase};`
      }),
    `GRANT SELECT ON ALL TABLES IN SCHEMA ${at} TO ${read};`,
    `REVOKE SELECT ON ${list(SECRET)} FROM ${read};`,
    '',
  ].join('\n')
}
