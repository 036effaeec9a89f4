import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { isLoopback } from '../../core/service/account.ts'
import type { Environment } from './environment.ts'

/** A PostgreSQL database in which processes of several machines keep one project. */
export interface DatabaseConfig {
  /** The primary and its standbys, in the order in which they are tried. */
  hosts: readonly DatabaseHost[]
  /** The same without a pooler between, for the session that listens; null: those of `hosts`. */
  directHosts: readonly DatabaseHost[] | null
  /** Hot standbys that answer lists; null: the primary does. */
  readHosts: readonly DatabaseHost[] | null
  schema: string
  /** Most connections of this process. */
  connections: number
}

/** A server, and how to log in to it. */
export interface DatabaseHost {
  host: string
  port: number
  database: string
  user: string
  /** Left out: none, or the one in PGPASSWORD. */
  password?: string
  /** Null: the connection is not encrypted. Files are read: these are their contents. */
  tls: DatabaseTls | null
}

interface DatabaseTls {
  /** Authority of the server's certificate. Default: those that Node trusts. */
  ca?: string
  /** Certificate of this client, and its key. */
  cert?: string
  key?: string
}

const MIN_CONNECTIONS = 4
const URL_LOOKS_LIKE = 'postgres://user:password@host:5432/database?sslmode=verify-full&schema=upshot'

/** Variables of the database, each with a text that completes "it should be …". */
export const DATABASE = {
  UPSHOT_DATABASE_URL: [z.string().optional(), URL_LOOKS_LIKE],
  UPSHOT_DATABASE_DIRECT_URL: [z.string().optional(), URL_LOOKS_LIKE],
  UPSHOT_DATABASE_READ_URL: [z.string().optional(), URL_LOOKS_LIKE],
  UPSHOT_DATABASE_CONNECTIONS: [
    z
      .string()
      .regex(/^\d{1,3}$/)
      .transform(Number)
      .refine((count) => count >= MIN_CONNECTIONS)
      .default(10),
    `a number of connections from ${MIN_CONNECTIONS} to 999`,
  ],
} as const

type Values = { [Name in keyof typeof DATABASE]: z.output<(typeof DATABASE)[Name][0]> }

/** More addresses of the same database. */
const BESIDE = ['UPSHOT_DATABASE_DIRECT_URL', 'UPSHOT_DATABASE_READ_URL'] as const

/** Null: the database is a file in the data directory. Appends to `faults` what is wrong. */
export function readDatabase(values: Values, environment: Environment, faults: string[]): DatabaseConfig | null {
  const { UPSHOT_DATABASE_URL: url } = values
  if (url === undefined) {
    const lonely = BESIDE.filter((name) => values[name] !== undefined)
    faults.push(...lonely.map((name) => `${name} needs UPSHOT_DATABASE_URL beside it.`))
    return null
  }
  const place = readUrl('UPSHOT_DATABASE_URL', url, faults)
  const [direct, read] = BESIDE.map((name) => {
    const given = values[name]
    return given === undefined ? null : readUrl(name, given, faults)
  })
  if (place && read?.schema && read.schema !== (place.schema ?? DEFAULT_SCHEMA)) {
    faults.push('UPSHOT_DATABASE_READ_URL names another schema than UPSHOT_DATABASE_URL.')
  }
  if (!environment.UPSHOT_SECRET_KEY) {
    faults.push(
      'UPSHOT_SECRET_KEY is missing: every process of a PostgreSQL database needs the same key. ' +
        '"openssl rand -base64 32" makes one.',
    )
  }
  if (place === null) return null
  return {
    hosts: place.hosts,
    directHosts: direct?.hosts ?? null,
    readHosts: read?.hosts ?? null,
    schema: place.schema ?? DEFAULT_SCHEMA,
    connections: values.UPSHOT_DATABASE_CONNECTIONS,
  }
}

/** Scheme, login, hosts, database, parameters. The login ends at the last `@` before a slash. */
const PARTS = /^([\w+.-]+):\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/
const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'schema']
const DEFAULT_SCHEMA = 'upshot'
const DEFAULT_PORT = 5432

interface Place {
  hosts: DatabaseHost[]
  /** Null: none is named. */
  schema: string | null
}

/** Null where `faults` got a new entry, which never holds the password. */
function readUrl(name: string, url: string, faults: string[]): Place | null {
  const fault = (text: string) => {
    faults.push(`${name} ${text}`)
    return null
  }
  const [, scheme, login = '', hostList = '', path = '', query = ''] = PARTS.exec(url) ?? []
  if (scheme === undefined) return fault(`is not valid: it should be ${URL_LOOKS_LIKE}.`)
  if (scheme !== 'postgres' && scheme !== 'postgresql') {
    return fault(`begins with ${scheme}://, and only PostgreSQL is supported: postgres://…`)
  }
  const text = decode(login, path)
  if (text === null) return fault('is not valid: write a "%" in the user, password or database as "%25".')
  const { user, password, database } = text
  if (user === '') return fault(`names no user: it should be ${URL_LOOKS_LIKE}.`)
  if (database === '') return fault(`names no database: it should be ${URL_LOOKS_LIKE}.`)
  const places = hostList.split(',').map(readHost)
  if (!places.every((place) => place !== null)) {
    return fault('names no host, or a wrong one: write host:port, and a comma between several.')
  }
  const parameters = new URLSearchParams(query)
  const unknown = [...parameters.keys()].find((parameter) => !PARAMETERS.includes(parameter))
  if (unknown !== undefined) {
    return fault(`has the parameter "${unknown}", which is not supported: use ${PARAMETERS.join(', ')}.`)
  }
  const before = faults.length
  const hosts = places.map(({ host, port }) => {
    const account = { database, user, ...(password === '' ? {} : { password }) }
    return { host, port, ...account, tls: readTls(parameters, host, (text) => void fault(text)) }
  })
  return faults.length > before ? null : { hosts, schema: parameters.get('schema') || null }
}

function decode(login: string, path: string): { user: string; password: string; database: string } | null {
  const colon = login.indexOf(':')
  const [user, password] = colon < 0 ? [login, ''] : [login.slice(0, colon), login.slice(colon + 1)]
  try {
    return {
      user: decodeURIComponent(user),
      password: decodeURIComponent(password),
      database: decodeURIComponent(path),
    }
  } catch {
    return null
  }
}

function readHost(text: string): { host: string; port: number } | null {
  const [, bracketed, plain, digits] = /^(?:\[([\da-f:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/i.exec(text) ?? []
  const host = bracketed ?? plain
  const port = digits === undefined ? DEFAULT_PORT : Number(digits)
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port }
}

/** Verified unless `sslmode=disable` is written out, or the server is on this machine. */
function readTls(parameters: URLSearchParams, host: string, fault: (text: string) => void): DatabaseTls | null {
  const mode = parameters.get('sslmode') ?? (isLoopback(host) || host === '::1' ? 'disable' : 'verify-full')
  if (mode === 'disable') return null
  if (mode !== 'verify-full') {
    fault(
      `has sslmode=${mode}, which does not prove that the server is yours. Write sslmode=verify-full, and ` +
        'sslrootcert=<file> where its certificate is of an authority of your own; or sslmode=disable.',
    )
    return null
  }
  const tls: DatabaseTls = {}
  for (const [parameter, part] of [
    ['sslrootcert', 'ca'],
    ['sslcert', 'cert'],
    ['sslkey', 'key'],
  ] as const) {
    const file = parameters.get(parameter)
    if (!file) continue
    if (existsSync(file)) tls[part] = readFileSync(file, 'utf8')
    else fault(`names ${file} as ${parameter}, which does not exist.`)
  }
  return tls
}
