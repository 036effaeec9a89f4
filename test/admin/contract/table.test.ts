import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { describeOpenapi } from '../../../src/admin/contract/openapi.ts'
import type { RouteSpec } from '../../../src/admin/contract/route.ts'
import { ROUTES } from '../../../src/admin/contract/routes.ts'
import { describeTools } from '../../../src/admin/mcp/create-agent-server.ts'
import { ACCESS_ROLES, type AccessRole } from '../../../src/core/access/role.ts'

const TABLE = Object.entries(ROUTES) as [keyof typeof ROUTES, RouteSpec][]

const paramsOf = (route: string) => [...route.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

/** The description of a field, through the wrappers of its type. */
function describeField(field: z.ZodType): string | undefined {
  const { innerType } = field.def as { innerType?: z.ZodType }
  return field.description ?? (innerType && describeField(innerType))
}

test.each(TABLE)('%s has a summary, and a description of every field that it takes', (_, spec) => {
  expect(spec.summary).toMatch(/^[A-Z].{5,}[^.]$/)
  const given = [spec.query, spec.body].flatMap((schema) => (schema instanceof z.ZodObject ? [schema.shape] : []))
  const fields = given.flatMap((shape) => Object.entries(shape) as [string, z.ZodType][])
  expect(fields.filter(([, field]) => !describeField(field)).map(([name]) => name)).toEqual([])
})

test('every operation has a name of its own, and an audit action unless it only reads', () => {
  const ids = TABLE.map(([, { id }]) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.filter((id) => !/^[a-z][A-Za-z]{2,40}$/.test(id))).toEqual([])
  const silent = TABLE.filter(([route, { audit }]) => !route.startsWith('GET ') && audit === undefined)
  expect(silent.map(([route]) => route)).toEqual([])
})

test('every operation is in the OpenAPI document, with its summary and role', () => {
  const { paths } = describeOpenapi(ROUTES, { version: '1', url: '/' }) as { paths: Record<string, never> }
  const described = Object.values(paths).flatMap((path) => Object.values(path)) as Record<string, string>[]
  for (const [, { id, summary, role }] of TABLE) {
    const found = described.find(({ operationId }) => operationId === id)
    expect(found).toMatchObject({
      summary,
      description: expect.stringContaining(role === 'anyone' ? 'no login' : role),
    })
  }
})

test('every operation is a tool of an admin, or says why it is none', () => {
  const tools = describeTools({ role: 'admin', allowsWrites: true })
  const named = new Set(tools.map(({ name }) => name))
  const missing = TABLE.filter(([, { id, noTool }]) => named.has(id) === (noTool !== undefined))
  expect(missing.map(([route]) => route)).toEqual([])
  for (const { route, inputSchema } of tools) {
    // A name stands for one thing: the path, the query and the body share an object.
    const { query, body } = ROUTES[route as keyof typeof ROUTES] as RouteSpec
    const bodied = body instanceof z.ZodObject ? Object.keys(body.shape) : []
    const names = [...paramsOf(route), ...Object.keys(query?.shape ?? {}), ...bodied]
    expect({ route, twice: names.filter((name, at) => names.indexOf(name) !== at) }).toEqual({ route, twice: [] })
    expect(Object.keys(inputSchema.properties as object).sort()).toEqual([...names].sort())
  }
})

test.each(ACCESS_ROLES)(
  'an agent with the role %s has no tool beyond it, and none that acts unless that is allowed',
  (role) => {
    for (const allowsWrites of [false, true]) {
      const rank = (each: AccessRole | 'anyone') => (each === 'anyone' ? -1 : ACCESS_ROLES.indexOf(each))
      const tools = describeTools({ role, allowsWrites })
      expect(tools.filter(({ spec }) => rank(spec.role) > rank(role))).toEqual([])
      const acting = tools.filter(({ annotations }) => !annotations.readOnlyHint)
      expect(acting.length > 0).toBe(allowsWrites && role !== 'viewer')
      const destructive = acting.filter(({ annotations }) => annotations.destructiveHint).map(({ route }) => route)
      const removing = acting.map(({ route }) => route).filter((route) => route.startsWith('DELETE '))
      expect(destructive).toEqual(expect.arrayContaining(removing))
    }
  },
)

test('docs/operations.md has a row for every operation', async () => {
  const rows = TABLE.map(([route, { id, summary, role, noTool }]) => {
    const tool = noTool === undefined ? `\`${id}\`` : `no: ${noTool}`
    return `| \`${route}\` | ${summary.replaceAll('|', '/')} | ${role} | ${tool} |`
  })
  const text = [
    '# Operations',
    '',
    'At the end of this page you know every operation of an installation. Each is reached at `/api/v1`',
    'of the [admin API](admin-api.md), and most through [commands](commands.md) and as tools of',
    '[agents](agents.md).',
    '',
    'The table of operations makes this page: `npx vitest run test/admin/contract --update`.',
    '',
    '| operation | what it does | least role | tool |',
    '|---|---|---|---|',
    ...rows,
    '',
  ]
  await expect(text.join('\n')).toMatchFileSnapshot(join(import.meta.dirname, '../../../docs/operations.md'))
})

test('the input of a tool is described once, however many messages ask for it', () => {
  const [first, again] = [0, 1].map(() => describeTools({ role: 'admin', allowsWrites: true }))
  expect(first?.every(({ inputSchema }, at) => inputSchema === again?.[at]?.inputSchema)).toBe(true)
})
