import { z } from 'zod'
import type { AccessRole } from '../../core/access/role.ts'
import { MAX_TAGS, parseTag } from '../../core/runs/annotations/tags.ts'
import { findTextFault } from '../../core/runs/step.ts'
import { readIso } from '../../core/time.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One operation of the admin API; the table of all of them is {@link ROUTES}. */
export interface RouteSpec {
  /** Name of the operation in the OpenAPI document; unique. */
  id: string
  summary: string
  /** Least role of the caller; `anyone` needs no login. */
  role: AccessRole | 'anyone'
  query?: z.ZodObject
  body?: z.ZodType
  /** Null: the answer is 204 without a body. */
  answer: z.ZodType | null
  /** Action in the audit row. Every route but those of GET has one. */
  audit?: string
  /** Form of the answer. Default `json`. */
  form?: 'json' | 'events' | 'bytes'
  /** Whether a client may send an `Idempotency-Key`, kept for 24 h. */
  isIdempotent?: true
  /** Whether it changes nothing, although it is no GET: a question that leaves an audit row. */
  isSafe?: true
  /** Whether something may be gone for good, or begin that a person has to answer for. */
  isDestructive?: true
  /** Why no agent has it as a tool; left out where one may. */
  noTool?: 'session' | 'bytes' | 'secret' | 'a decision of a person'
  /** Whether it tells an asker that listens how far it is, before its answer. */
  tellsProgress?: true
  /** Largest body in megabytes. Default 1. */
  bodyMegabytes?: number
  /** Whether its answer is an operation that goes on, and that `GET /operations/:id` follows. */
  isLong?: true
  /** Whether it reads far into history: at most two of these at a time for each caller. */
  isSearch?: true
}

/** How far a long operation is; `total` is null where it is not known. */
export interface WorkDone {
  done: number
  total: number | null
}

/** Routes by method and path, such as `GET /runs/:id`. */
export type RouteTable = Record<`${Method} /${string}`, RouteSpec>

/** A route as it is written: the method implies the rest, see {@link defineRoutes}. */
interface Entry extends Partial<Omit<RouteSpec, 'id' | 'query' | 'body'>> {
  id: string
  query?: z.ZodRawShape
  /** Fields of the body, or the whole of one without a reason; null: there is none. */
  body?: z.ZodRawShape | z.ZodType | null
}

type Strict<Shape> = z.ZodObject<Shape extends z.ZodRawShape ? Shape : never, z.core.$strict>
type Body<Given> = Given extends z.ZodType ? Given : Strict<Omit<typeof common, keyof Given> & Given>
type Part<Given, Name extends 'query' | 'body'> = Given extends { [Key in Name]: infer Fields } ? Fields : unknown

/** The schemas that the method of a route implies. */
type Implied<Name, Given> = Name extends `GET ${string}`
  ? Given extends { query: infer Fields }
    ? { query: Strict<Fields> }
    : unknown
  : Name extends `DELETE ${string}`
    ? { query: Strict<typeof common>; answer: null }
    : Given extends { body: null }
      ? unknown
      : { body: Body<Part<Given, 'body'>> }

type Complete<Name, Given> = Omit<Given, 'query' | 'body'> & { role: RouteSpec['role'] } & Implied<Name, Given>

/**
 * Routes with what their methods imply. `GET` needs a viewer. Everything else needs an operator and
 * takes a reason: `DELETE` in its query, others in the body.
 */
export function defineRoutes<const Entries extends Record<`${Method} /${string}`, Entry>>(entries: Entries) {
  const routes = Object.entries(entries).map(([name, entry]) => [name, complete(name, entry)])
  return Object.fromEntries(routes) as { [Name in keyof Entries]: Complete<Name, Entries[Name]> }
}

function complete(name: string, { query, body, ...entry }: Entry) {
  if (name.startsWith('GET ')) return { role: 'viewer', ...entry, ...(query && { query: z.strictObject(query) }) }
  const own = { role: 'operator', ...entry }
  if (name.startsWith('DELETE ')) {
    return { ...own, query: z.strictObject(common), answer: null, isDestructive: true }
  }
  if (body === null) return own
  return { ...own, body: body instanceof z.ZodType ? body : z.strictObject({ ...body, ...common, ...body }) }
}

/** Names of the parameters in a path. */
type ParamNames<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never

export type ParamsOf<Name extends string> = { [Param in ParamNames<Name>]: string }

/** An answer with one page of a list, newest first. `next` is null once nothing older exists. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next: z.string().nullable().describe('Value of `after` for the next page; null: there is nothing older.'),
    searched,
  })
}

/** How far a list looked before it answered. */
const searched = z
  .object({
    from: time().nullable().describe('The oldest moment that was looked at; null: all of history.'),
    rows: z.int().describe('Rows that were looked at.'),
    isComplete: z.boolean().describe('False when the time ran out first: ask on with `next`.'),
    ms: z.number(),
  })
  .meta({ id: 'Searched' })

/** The part of a query that pages through a list. */
export const paging = {
  limit: z.coerce.number().int().min(1).max(500).default(50).describe('The most items of one answer.'),
  after: z.string().max(500).optional().describe('The `next` of the page before.'),
}

/** A moment in ISO 8601, in UTC. */
export function time() {
  return z.iso.datetime().describe('ISO 8601, in UTC.')
}

/** A time from now on, such as `90d`. */
export const duration = z.string().regex(/^\d+(\.\d+)?[smhdw]$/)

/** A moment in a query: ISO 8601 with an offset, or a duration such as `2h` before now. */
export const moment = z
  .union([
    z
      .string()
      .refine((text) => /^\d{4}-/.test(text) && !Number.isNaN(readIso(text)))
      .meta({ format: 'date-time' }),
    z.string().regex(/^\d+(\.\d+)?(ms|s|m|h|d|w)$/),
  ])
  .describe('A duration before now such as `2h` or `7d`, or a time such as `2026-06-01T12:00Z`.')

const oneTag = z.string().refine((text) => parseTag(text) !== null, 'must be a tag such as customer=acme')

/** Tags of runs in a query. */
export const tag = z
  .union([oneTag, z.array(oneTag).max(MAX_TAGS)])
  .describe('Only runs with this tag, such as customer=acme; of several, runs that have all of them.')

export const dataNote = z
  .string()
  .nullable()
  .describe('Where `data` is too large to be here: how to read it. Otherwise null.')

export const usual = z.object({ p50Ms: z.number(), p95Ms: z.number() }).meta({ id: 'UsualTime' })

/** A reason as both databases keep it, since a person may sign it. */
export const reasonText = z
  .string()
  .max(500)
  .refine((text) => findTextFault(text) === null, { error: ({ input }) => findTextFault(String(input)) ?? '' })

/** Why somebody acts; the audit log keeps it. A `DELETE` has it in its query. */
export const reason = reasonText.optional().describe('Kept in the audit log.')

/** Only says what would be done, or what would be saved. */
export const isDryRun = z.boolean().default(false).describe('Only says what it would do.')

/** Fields of every action. */
const common = { reason }

/** The body of every error: RFC 9457, and fields of ours. */
export const problem = z
  .object({
    type: z.string().describe('`urn:upshot:<code>`'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    fix: z.string().optional().describe('What to do next.'),
    errors: z.array(z.object({ at: z.string(), fault: z.string() })).optional(),
    retryAt: z.iso.datetime().optional(),
    request: z.string().describe('Id of the request, as in the answer’s `X-Request-Id`.'),
  })
  .meta({ id: 'Problem' })

export type Problem = z.infer<typeof problem>
