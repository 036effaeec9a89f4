import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('./', import.meta.url)

/** The words of one database for those of a shared migration. See 001-tables.sql. */
interface Words {
  types: Record<string, string>
  /** Ends the statement of a table; `week`: the column that decides about a row's week. */
  endTable(table: string, isKeyed: boolean, week: string | undefined): string
}

const WORDS: Record<'sqlite' | 'postgres', Words> = {
  sqlite: {
    types: {
      text: 'TEXT',
      bigint: 'INTEGER',
      real: 'REAL',
      bytes: 'BLOB',
      serial: 'INTEGER PRIMARY KEY',
      'serial PRIMARY KEY': 'INTEGER PRIMARY KEY',
    },
    endTable: (_, isKeyed) => (isKeyed ? ' STRICT, WITHOUT ROWID' : ' STRICT'),
  },
  postgres: {
    types: {
      text: 'text COLLATE "C"',
      bigint: 'bigint',
      real: 'double precision',
      bytes: 'bytea',
      serial: 'bigint GENERATED ALWAYS AS IDENTITY',
      'serial PRIMARY KEY': 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    },
    endTable: (table, _, week) =>
      week === undefined
        ? ''
        : ` PARTITION BY RANGE (${week});
CREATE TABLE ${table}_old PARTITION OF ${table} FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`,
  },
}

/** A step of the schema. Both databases have all of them; one may have nothing to do. */
interface Migration {
  /** The name of its first file. */
  name: string
  sql: string
}

const FILE = /^\d{3}-[\w-]+(\.\w+)?\.sql$/

/**
 * The migrations, in their order. `NNN-<what>.sql` is for both databases. Then come those files of
 * the number that are for one, `NNN-<what>.<database>.sql`.
 */
export function readMigrations(database: 'sqlite' | 'postgres'): Migration[] {
  const migrations: Migration[] = []
  const files = readdirSync(FOLDER).filter((name) => FILE.test(name))
  for (const name of files.sort(bySharedFirst)) {
    const [, kind] = name.split('.')
    const text = kind === 'sql' || kind === database ? readFileSync(new URL(name, FOLDER), 'utf8') : ''
    const at = Number(name.slice(0, 3)) - 1
    migrations[at] ??= { name, sql: '' }
    migrations[at].sql += kind === 'sql' ? translate(text, WORDS[database]) : text
  }
  return migrations
}

function bySharedFirst(a: string, b: string): number {
  const rank = (file: string) => `${file.slice(0, 3)} ${file.split('.').length} ${file}`
  return rank(a) < rank(b) ? -1 : 1
}

/** A comment, which goes, or a type behind the name of a column. A line `-- least: n` stays. */
const TYPES = /--(?! least: ).*|(\w+ +)(text|bigint|real|bytes|serial(?: PRIMARY KEY)?)\b/g
const TABLES = /CREATE TABLE (\w+) (\([^;]*?\))( KEYED)?(?: WEEKLY \((\w+)\))?;/g

function translate(text: string, { types, endTable }: Words): string {
  return text
    .replace(TYPES, (_, column?: string, type?: string) =>
      column === undefined || type === undefined ? '' : `${column}${types[type]}`,
    )
    .replace(TABLES, (_, table: string, columns: string, keyed?: string, week?: string) => {
      return `CREATE TABLE ${table} ${columns}${endTable(table, keyed !== undefined, week)};`
    })
}
