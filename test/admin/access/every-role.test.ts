import { expect, test } from 'vitest'
import type { RouteSpec } from '../../../src/admin/contract/route.ts'
import { ROUTES } from '../../../src/admin/contract/routes.ts'
import { ACCESS_ROLES, includesRole } from '../../../src/core/access/role.ts'
import { startConsole } from '../support/start-console.ts'

const routes = Object.entries<RouteSpec>(ROUTES)

test('every operation answers each role, by token and by session, as its line of the table says', async () => {
  const { api, makeToken, logIn } = await startConsole()
  const status = async (name: string, headers: Record<string, string>) => {
    const [method = '', path = ''] = name.split(' ')
    const request = { method, headers: { ...headers, 'content-type': 'application/json' } }
    const body = ROUTES[name as keyof typeof ROUTES]
    const gone = new AbortController()
    const url = `${api}${path.replaceAll(/:\w+/g, 'none')}`
    const content = 'body' in body ? { body: '{"unknown": 1}' } : {}
    const response = await fetch(url, { ...request, ...content, signal: gone.signal })
    gone.abort()
    return response.status
  }
  for (const role of ACCESS_ROLES) {
    const token = await makeToken(role)
    const { cookie, key } = await logIn(role)
    expect(await status('GET /session', { cookie, 'x-upshot': `${key.slice(1)}0` })).toBe(401)
    for (const [name, spec] of routes) {
      if (name === 'POST /logout') continue
      const isAllowed = spec.role === 'anyone' || includesRole(role, spec.role)
      const refused = spec.role === 'anyone' ? [] : [401]
      const byToken = await status(name, { authorization: `Bearer ${token}` })
      const bySession = await status(name, { cookie, 'x-upshot': key })
      expect([name, role, byToken === 403, bySession === 403]).toEqual([name, role, !isAllowed, !isAllowed])
      expect([name, byToken === 401, bySession === 401]).toEqual([name, false, false])
      expect([name, await status(name, { cookie })].slice(1)).toEqual(refused.length > 0 ? [401] : [expect.any(Number)])
      expect([name, await status(name, { 'x-upshot': key })].slice(1)).toEqual(
        refused.length > 0 ? [401] : [expect.any(Number)],
      )
      if (refused.length > 0) expect([name, await status(name, {})]).toEqual([name, 401])
    }
  }
})

test('an attempt above the role of its caller leaves an audit row, and so does a login', async () => {
  const { api, store, makeToken, logIn } = await startConsole()
  const authorization = `Bearer ${await makeToken('viewer')}`
  const headers = { authorization, 'content-type': 'application/json' }
  const refused = await fetch(`${api}/runs/run_1/cancel`, { method: 'POST', headers, body: '{}' })
  expect(refused.status).toBe(403)
  await logIn('operator')
  expect(await store.listActions({ limit: 10 })).toMatchObject([
    { action: 'session.start', actor: 'web:ada', role: 'operator', outcome: 'done' },
    { action: 'run.cancel', target: 'run_1', role: 'viewer', outcome: 'refused' },
  ])
})
