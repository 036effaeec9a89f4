import { z } from 'zod'
import { problem, type RouteSpec, type RouteTable } from './route.ts'

interface Place {
  version: string
  /** Address of the API, such as `/api/v1`. */
  url: string
}

type Json = Record<string, unknown>

/** Statuses of the problems that every operation may answer. */
const PROBLEMS = [400, 401, 403, 404, 409, 421, 429, 500, 502, 503] as const

/** The OpenAPI 3.1 document of a table of routes. Schemas with an id become components. */
export function describeOpenapi(routes: RouteTable, { version, url }: Place): Json {
  const components = new Map<string, unknown>()
  const problemRef = toSchema(problem, 'output', components)
  const paths: Record<string, Json> = {}
  for (const [name, spec] of Object.entries(routes)) {
    const [method = '', path = ''] = name.split(' ')
    const template = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: describeOperation(path, spec, components) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Upshot admin API',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
      description: 'Runs, events, deliveries and everything an operator does with them.',
    },
    servers: [{ url }],
    tags: [...new Set(Object.keys(routes).map(tagOf))].map((name) => ({ name })),
    security: [{ token: [] }, { session: [], key: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'upshot_4701', description: 'Its name ends with the port.' },
        key: { type: 'apiKey', in: 'header', name: 'X-Upshot' },
      },
      schemas: Object.fromEntries(components),
      responses: {
        Problem: {
          description: 'What went wrong, why, and what to do next.',
          content: { 'application/problem+json': { schema: problemRef } },
        },
      },
    },
  }
}

function describeOperation(path: string, spec: RouteSpec, components: Map<string, unknown>): Json {
  const { id, summary, role, query, body, audit } = spec
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const problems = PROBLEMS.map((status) => [status, { $ref: '#/components/responses/Problem' }])
  return {
    operationId: id,
    tags: [tagOf(` ${path}`)],
    summary,
    description:
      role === 'anyone' ? 'Needs no login.' : `Needs the role ${role}.${audit ? ` Audited as ${audit}.` : ''}`,
    ...(role === 'anyone' ? { security: [] } : {}),
    parameters: [
      ...inPath,
      ...(query ? describeQuery(query, components) : []),
      ...(spec.isIdempotent ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: toSchema(body, 'input', components) } },
          },
        }
      : {}),
    responses: { ...describeAnswer(spec, components), ...Object.fromEntries(problems) },
  }
}

/** Resources of operations whose path begins with another word. */
const RESOURCES: Record<string, string> = {
  login: 'access',
  logout: 'access',
  session: 'access',
  openapi: 'access',
  sessions: 'tokens',
  approvers: 'approvals',
  guard: 'effects',
  downloads: 'files',
  config: 'system',
  doctor: 'system',
  database: 'system',
  retention: 'system',
  overview: 'system',
}

function tagOf(route: string): string {
  const [, word = ''] = /^\w* \/(\w+)/.exec(route) ?? []
  return RESOURCES[word] ?? word
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', maxLength: 200 },
  description: 'The same key within 24 h gets the first answer again, and nothing is done twice.',
}

function describeQuery(query: z.ZodObject, components: Map<string, unknown>): Json[] {
  const whole = toSchema(query, 'input', components) as { properties?: Record<string, Json>; required?: string[] }
  return Object.entries(whole.properties ?? {}).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: whole.required?.includes(name) ?? false,
    schema,
    ...(description === undefined ? {} : { description }),
  }))
}

function describeAnswer({ answer, form = 'json', tellsProgress }: RouteSpec, components: Map<string, unknown>): Json {
  if (form === 'events') return { 200: { description: 'Server-sent events.', content: { 'text/event-stream': {} } } }
  if (form === 'bytes') return { 200: { description: 'The bytes.', content: { 'application/octet-stream': {} } } }
  if (answer === null) return { 204: { description: 'Done.' } }
  const schema = toSchema(answer, 'output', components)
  const told = tellsProgress ? { 'text/event-stream': {} } : {}
  return { 200: { description: 'The answer.', content: { 'application/json': { schema }, ...told } } }
}

/** The JSON Schema of a Zod schema; those with an id move to `components`. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', components: Map<string, unknown>): Json {
  const { $defs = {}, ...root } = z.toJSONSchema(z.object({ root: schema }), { io, unrepresentable: 'any' })
  for (const [name, definition] of Object.entries($defs)) components.set(name, tidy(definition))
  return tidy((root.properties as { root: Json }).root) as Json
}

/** Points references at the components, and drops what Zod adds for other uses. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .filter(([name, content]) => !(name === 'id' && typeof content === 'string') && name !== '$schema')
    .map(([name, content]) => {
      const isReference = name === '$ref' && typeof content === 'string'
      return [name, isReference ? content.replace('#/$defs/', '#/components/schemas/') : tidy(content)]
    })
  return Object.fromEntries(entries)
}
