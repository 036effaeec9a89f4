import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ALERT_KINDS, type AlertKind } from '../../../src/core/alerts/alert-rule.ts'
import { NOW } from '../../support/fixtures.ts'
import { openTestStore, testVaultKey } from '../../support/test-store.ts'
import { startHook } from './support/hook-server.ts'
import { openWatch } from './support/open-alerts.ts'
import { RULE_CASES, ruleOf } from './support/rule-cases.ts'

const KINDS = Object.keys(RULE_CASES) as AlertKind[]
const SENDER = new URL('./support/sender-process.ts', import.meta.url)
const MINUTE = 60_000

test('every built-in rule has a case here', () => {
  expect(KINDS.toSorted()).toEqual(Object.keys(ALERT_KINDS).sort())
})

test.each(KINDS)('%s opens once, is sent once and is over once, with two schedulers', async (when) => {
  const { prepare, happen, end, title } = RULE_CASES[when]
  const store = openTestStore()
  const hook = await startHook()
  const channels = { ops: { kind: 'slack', url: hook.url } } as const
  const disk = { use: 0.5 }
  const scene = { store, disk }
  const one = openWatch(store, ruleOf(when), { channels, disk })
  const other = openWatch(openTestStore(store.folder), ruleOf(when), { channels, disk, clock: one.clock })
  const lookUntil = async (end: number, step: number) => {
    for (; one.clock.now() < end; one.clock.advance(step)) await Promise.all([one.watch.look(), other.watch.look()])
  }
  const told = () => hook.posted.map(({ body }) => JSON.parse(body).text.split('\n')[1].split(': ')[0])

  await prepare?.(scene)
  await lookUntil(NOW + 1_000, 10_000)
  await happen(scene)
  await lookUntil(NOW + 2 * MINUTE, 10_000)
  expect(told()).toEqual(['new'])
  expect(hook.posted[0]?.body).toMatch(title)
  await end?.(scene, one.clock.now())
  await lookUntil(NOW + 40 * MINUTE, MINUTE)
  expect(told()).toEqual(ALERT_KINDS[when] === 'once' ? ['new'] : ['new', 'over'])
  expect(one.sent().length + other.sent().length).toBe(told().length)
  expect([...one.notices, ...other.notices].filter(({ kind }) => kind === 'fault')).toEqual([])
})

test('what a killed process was sending is sent by the other one, once for each rule', async () => {
  const store = openTestStore()
  const [hanging, hook] = [await startHook(), await startHook()]
  hanging.answer = 'never'
  const disk = { use: 0.5 }
  const channels = { ops: { kind: 'slack', url: hook.url } } as const
  const next = openWatch(store, KINDS.map(ruleOf), { channels, disk })
  const lookAt = (at: number) => {
    next.clock.set(at)
    return next.watch.look()
  }
  for (const when of KINDS) await RULE_CASES[when].prepare?.({ store, disk })
  await lookAt(NOW)
  for (const when of KINDS) await RULE_CASES[when].happen({ store, disk })
  const killedAt = NOW + 2 * MINUTE
  const given = [store.folder, testVaultKey.toString('hex'), hanging.url, String(killedAt)]
  const sender = fork(SENDER, given, { execArgv: [] })
  onTestFinished(() => void sender.kill('SIGKILL'))
  await vi.waitFor(() => expect(hanging.posted).toHaveLength(KINDS.length), { timeout: 30_000 })
  sender.kill('SIGKILL')
  await once(sender, 'exit')

  await lookAt(killedAt + MINUTE - 1)
  expect(hook.posted).toEqual([])
  for (const later of [0, 10_000, 20_000]) await lookAt(killedAt + MINUTE + later)
  expect(next.sent().map(({ rule, error }) => [rule, error])).toEqual(
    expect.arrayContaining(KINDS.map((when) => [when, null])),
  )
  expect(hook.posted).toHaveLength(KINDS.length)
})
