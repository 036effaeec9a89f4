import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findRole } from '../../../src/admin/access/oidc-routes.ts'
import type { OidcOptions } from '../../../src/admin/access/options.ts'
import { beginRun } from '../../cli/support/test-project.ts'
import { checkpoint } from '../../support/fixtures.ts'
import { startConsole } from '../support/start-console.ts'

// The provider prints advice for those who would run it in production.
vi.spyOn(console, 'warn').mockImplementation(() => undefined)
vi.spyOn(console, 'info').mockImplementation(() => undefined)

const SECRET = 'the-secret-of-this-client-at-the-provider'
const GROUPS: Record<string, string[]> = { ada: ['ops', 'everyone'], bob: ['everyone'], dan: ['ops'], eve: [] }
const QUESTION = {
  workflow: 'follow-up',
  account: 'default',
  ask: 'Go on?',
  show: null,
  answer: null,
  needs: 2,
  role: null,
  effects: [],
}
const ROLES = { ops: 'admin', everyone: 'viewer' } as const

/** A real provider whose people sign in without a word, and an admin server that asks it. */
async function startBoth({ secret = SECRET, ...given }: Partial<OidcOptions> = {}) {
  let answer: RequestListener = () => undefined
  const server = createServer((request, response) => answer(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const oidc = { issuer, clientId: 'upshot', secret, scope: 'openid profile', groupsClaim: 'groups', roles: ROLES }
  const access = { basePath: '/ops', url: null, proxy: null, fileTokenHash: 'none', oidc: { ...oidc, ...given } }
  const console = await startConsole({ access })
  let person = 'ada'
  /** By `sub`, the name that somebody chose at the provider. */
  const names: Record<string, string> = {}
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'upshot',
        client_secret: SECRET,
        token_endpoint_auth_method: 'client_secret_post',
        redirect_uris: [`${console.base}/oidc/callback`],
      },
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['a key of this test'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, preferred_username: names[id] ?? id, groups: GROUPS[id] }),
    }),
    interactions: { url: (_context, { uid }) => `/person/${uid}` },
    pkce: { required: () => true },
    loadExistingGrant: async ({ oidc: { provider: own, session, client } }) => {
      const grant = new own.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' })
      grant.addOIDCScope('openid profile')
      await grant.save()
      return grant
    },
  })
  const serve = provider.callback()
  answer = (request, response) => {
    if (!request.url?.startsWith('/person/')) return void serve(request, response)
    void provider.interactionFinished(request, response, { login: { accountId: person } })
  }
  return {
    ...console,
    names,
    become: (name: string) => {
      person = name
    },
  }
}

/** A browser as far as this needs one: it follows redirects and keeps cookies. Ends at our page. */
async function follow(
  start: string,
  { base, jar = new Map<string, string>() }: { base: string; jar?: Map<string, string> },
) {
  let address = start
  for (let hops = 0; hops < 12; hops++) {
    if (address.startsWith(`${base}/login`)) return { address, jar }
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const reply = await fetch(address, { redirect: 'manual', headers: { cookie } })
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    address = new URL(reply.headers.get('location') ?? `/${reply.status}`, address).href
  }
  throw new Error(`The redirects do not end: ${address}`)
}

async function useCode(base: string, address: string) {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ code: new URL(address).hash.slice(1) })
  const reply = await fetch(`${base}/api/v1/login`, { method: 'POST', headers, body })
  const cookie = reply.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  return { status: reply.status, cookie, ...((await reply.json()) as { role?: string; key?: string }) }
}

test('people sign in at a real provider, with the highest role of their groups, and once with each code', async () => {
  const { base, store, become } = await startBoth()
  const login = await fetch(`${base}/api/v1/login`)
  expect(await login.json()).toEqual({ provider: expect.stringMatching(/^127\.0\.0\.1:\d+$/) })
  const { address } = await follow(`${base}/oidc/start`, { base })
  expect(await useCode(base, address)).toMatchObject({ status: 200, role: 'admin' })
  expect(await useCode(base, address)).toMatchObject({ status: 401 })
  become('bob')
  const second = await follow(`${base}/oidc/start`, { base })
  expect(await useCode(base, second.address)).toMatchObject({ status: 200, role: 'viewer' })
  const actions = await store.listActions({ limit: 10 })
  expect(
    actions
      .filter(({ action }) => action === 'session.invite')
      .map(({ actor }) => actor)
      .sort(),
  ).toEqual([expect.stringMatching(/^oidc:ada#[0-9a-f]{16}$/), expect.stringMatching(/^oidc:bob#[0-9a-f]{16}$/)])
})

test('somebody who changes their name at the provider stays one voter, whose last word counts', async () => {
  const { base, api, store, clock, names, become } = await startBoth()
  const now = clock.now()
  const lease = await beginRun(store, 'evt_1', 'follow-up', now)
  await store.saveCheckpoint(lease, checkpoint('ask', { kind: 'approve', status: 'waiting' }), undefined, {
    approve: { ...QUESTION, openedAt: now, expiresAt: now + 60_000 },
  })
  const { hash, id } = (await store.listApprovals({ status: 'open', limit: 1, now }))[0] ?? { hash: '', id: '' }
  const approve = async (person: string) => {
    become(person)
    const { address } = await follow(`${base}/oidc/start`, { base })
    const { cookie, key = '' } = await useCode(base, address)
    const headers = { cookie, 'x-upshot': key, 'content-type': 'application/json' }
    const body = JSON.stringify({ hash })
    return (await fetch(`${api}/approvals/${id}/approve`, { method: 'POST', headers, body })).json()
  }
  expect(await approve('ada')).toMatchObject({ status: 'open', missing: 1 })
  names.ada = 'somebody else'
  expect(await approve('ada')).toMatchObject({ status: 'open', missing: 1 })
  expect(await approve('dan')).toMatchObject({ status: 'approved' })
})

test('somebody without a group that has a role gets no code, and the log says who', async () => {
  const { base, become, heard } = await startBoth()
  become('eve')
  const { address } = await follow(`${base}/oidc/start`, { base })
  expect(address).toBe(`${base}/login?fault=no-role`)
  expect(heard).toContainEqual(
    expect.objectContaining({
      kind: 'fault',
      where: 'sign-in',
      error: expect.objectContaining({ message: expect.stringMatching(/^eve#\w+ is in no group/) }),
    }),
  )
})

test('an answer that another browser began, and a damaged memory, start no session', async () => {
  const { base, heard } = await startBoth()
  const begin = async () => {
    const { headers } = await fetch(`${base}/oidc/start`, { redirect: 'manual' })
    const [, memory = ''] = /^upshot_oidc=([^;]+)/.exec(headers.getSetCookie()[0] ?? '') ?? []
    const { origin, searchParams } = new URL(headers.get('location') ?? '')
    return { memory, query: `code=stolen&iss=${origin}&state=${searchParams.get('state')}` }
  }
  const [mine, other] = [await begin(), await begin()]
  for (const memory of [undefined, 'damaged', other.memory]) {
    const jar = new Map(memory === undefined ? [] : [['upshot_oidc', memory]])
    const forged = await follow(`${base}/oidc/callback?${mine.query}`, { base, jar })
    expect(forged.address).toBe(`${base}/login?fault=failed`)
  }
  const messages = heard.flatMap((notice) => (notice.kind === 'fault' ? [notice.error.message] : []))
  expect(messages).toEqual([
    expect.stringContaining('did not start a sign-in'),
    expect.stringContaining('damaged'),
    expect.stringContaining('"state"'),
  ])
  expect(JSON.stringify(heard)).not.toContain('stolen')
})

test('a wrong secret and a provider that is away are told, and the next try asks again', async () => {
  const wrong = await startBoth({ secret: 'another-secret-than-the-provider-has' })
  const refused = await follow(`${wrong.base}/oidc/start`, { base: wrong.base })
  expect(refused.address).toBe(`${wrong.base}/login?fault=failed`)
  expect(JSON.stringify(wrong.heard)).not.toContain('another-secret')
  const away = await startBoth({ issuer: 'http://127.0.0.1:9' })
  const first = await follow(`${away.base}/oidc/start`, { base: away.base })
  expect(first.address).toBe(`${away.base}/login?fault=failed`)
})

test('without a provider there is nothing to begin', async () => {
  const { base, api } = await startConsole()
  expect(await (await fetch(`${api}/login`)).json()).toEqual({ provider: null })
  expect((await fetch(`${base}/oidc/start`, { redirect: 'manual' })).status).toBe(404)
})

test('a role comes from the groups, and from "*" for everybody', () => {
  expect(findRole(['everyone', 'ops'], ROLES)).toBe('admin')
  expect(findRole(['others'], ROLES)).toBeNull()
  expect(findRole([], { '*': 'operator' })).toBe('operator')
  expect(findRole(['constructor'], ROLES)).toBeNull()
})
