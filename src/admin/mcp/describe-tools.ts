import { z } from 'zod'
import { type AccessRole, includesRole } from '../../core/access/role.ts'
import type { RouteSpec, RouteTable } from '../contract/route.ts'
import type { Given } from '../perform/handler.ts'

/** The rights of an agent. */
export interface AgentRights {
  role: AccessRole
  /** False: it only reads. */
  allowsWrites: boolean
}

/** An operation as a tool of the Model Context Protocol. */
interface Tool {
  /** In the table of operations. */
  route: keyof RouteTable
  spec: RouteSpec
  name: string
  description: string
  inputSchema: { type: 'object'; [key: string]: unknown }
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean }
}

/** The tools of an agent: each operation that its rights reach. */
export function describeTools(routes: RouteTable, { role, allowsWrites }: AgentRights): Tool[] {
  return Object.entries(routes).flatMap(([route, spec]) => {
    const isRead = route.startsWith('GET ') || spec.isSafe === true
    const mayAct = spec.role !== 'anyone' && includesRole(role, spec.role) && (isRead || allowsWrites)
    if (spec.noTool !== undefined || !mayAct) return []
    const isDestructive = spec.isDestructive === true
    return [
      {
        ...{ route: route as Tool['route'], spec, name: spec.id },
        description: describeTool(spec),
        inputSchema: describeInput(route, spec),
        annotations: {
          ...{ readOnlyHint: isRead, destructiveHint: isDestructive },
          ...{ idempotentHint: isRead || route.startsWith('PUT '), openWorldHint: false },
        },
      },
    ]
  })
}

function describeTool({ summary, isDestructive, isLong, query }: RouteSpec): string {
  const parts = [
    summary,
    ...(query && 'after' in query.shape ? ['`next` of an answer is `after` of the next page'] : []),
    ...(isDestructive ? ['destructive: ask the person first'] : []),
    ...(isLong ? ['goes on until all are done, and tells its progress'] : []),
  ]
  return `${parts.join('. ')}.`
}

/** One flat object: the parameters of the path, the query and the body. */
function describeInput(route: string, { query, body }: RouteSpec): Tool['inputSchema'] {
  const inPath = paramsOf(route).map((name) => [name, z.string().describe(`The ${name} in the path.`)] as const)
  const inBody = body instanceof z.ZodObject ? body.shape : {}
  // A fault of the sandbox has more fields than the table knows.
  const isOpen = body instanceof z.ZodObject && body.def.catchall instanceof z.ZodUnknown
  const whole = (isOpen ? z.looseObject : z.strictObject)({ ...Object.fromEntries(inPath), ...query?.shape, ...inBody })
  const { $schema: _, ...schema } = z.toJSONSchema(whole, { io: 'input', unrepresentable: 'any' })
  return { ...schema, type: 'object' }
}

/** The arguments of a tool as the input of its operation. */
export function readArguments({ route, spec }: Tool, given: Record<string, unknown>): Given {
  const names = paramsOf(route)
  const pick = (isTaken: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => isTaken(name)))
  const isInQuery = (name: string) => spec.query !== undefined && name in spec.query.shape
  const params = Object.fromEntries(names.map((name) => [name, String(given[name] ?? '')]))
  return {
    params,
    query: pick((name) => !names.includes(name) && (isInQuery(name) || spec.body === undefined)),
    body: pick((name) => !names.includes(name) && !isInQuery(name)),
  }
}

function paramsOf(route: string): string[] {
  return [...route.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
}
