import { expect, test } from 'vitest'
import { checkGuard, checkSafety } from '../../../../src/cli/commands/doctor/check-safety.ts'
import { DEFAULT_POLICY } from '../../../../src/core/safety/guard.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import type { Config } from '../../../../src/project/config/load-config.ts'
import { QUESTION } from '../../../contract/support/waiting-runs.ts'
import { checkpoint } from '../../../support/fixtures.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { testConfig } from '../../../support/test-config.ts'
import { RULE } from '../../../watch/alerts/support/open-alerts.ts'
import { runHere } from '../../support/run-here.ts'
import { openTestProject } from '../../support/test-project.ts'
import { holdDeletes } from '../safety/support/hold-deletes.ts'

const DAY = 86_400_000
const rule = { ...RULE, when: 'approval.asked' } as const

/** The findings of a project whose store this is. */
const examine = (store: Store, dataDir: string, part: Partial<Config> = {}) =>
  checkSafety(store, testConfig(dataDir, part))

test('doctor says nothing of the guard where it is on, nothing waits and nothing is stopped', async () => {
  const { store, dataDir } = await openTestProject()
  expect(await examine(store, dataDir)).toEqual([])
})

test('doctor warns where the guard is off, also before there is a database', async () => {
  const findings = checkGuard(testConfig(tempFolder(), { guardPolicy: { ...DEFAULT_POLICY, limits: null } }))
  expect(findings).toMatchObject([{ check: 'guard', level: 'warn', fix: expect.stringContaining('`guard`') }])
  const { json } = await runHere(tempFolder(), ['doctor', '--json'], { env: { UPSHOT_GUARD: 'off' } })
  expect(json.data.findings).toContainEqual(expect.objectContaining({ check: 'guard', level: 'warn' }))
})

test('doctor warns where approvals wait and nobody is registered, or no alert rule tells of them', async () => {
  const { store, dataDir } = await openTestProject()
  const { id } = await holdDeletes(store, ['a'])
  const alerts = { rules: [rule], channels: {} }
  const found = async (part: Partial<Config> = {}) => (await examine(store, dataDir, part)).map((each) => each.found)
  const newest = `the newest is ${id}`
  expect(await found()).toEqual([
    `approvals wait for people, but no approver is registered and no alert rule tells of them; ${newest}`,
  ])
  expect(await found({ alerts })).toEqual([`approvals wait for people, but no approver is registered; ${newest}`])
  const anna = { name: 'anna', publicKey: 'key', roles: [], addedAt: 0, removedAt: null }
  await store.addApprover(anna)
  expect(await found()).toEqual([`approvals wait for people, but no alert rule tells of them; ${newest}`])
  expect(await found({ alerts })).toEqual([])
  await store.removeApprover('anna', 1)
  expect(await found({ alerts })).toHaveLength(1)
})

test('doctor warns of an approval that the registered people are too few to grant', async () => {
  const { store, dataDir } = await openTestProject()
  const { id, lease } = await holdDeletes(store, ['a'])
  const alerts = { rules: [rule], channels: {} }
  const found = async (needs: number) => {
    const guardPolicy = { ...DEFAULT_POLICY, approvals: { ...DEFAULT_POLICY.approvals, needs } }
    return (await examine(store, dataDir, { alerts, guardPolicy })).map((each) => each.found)
  }
  await store.addApprover({ name: 'anna', publicKey: 'key', roles: [], addedAt: 0, removedAt: null })
  expect(await found(1)).toEqual([])
  expect(await found(2)).toEqual([`approval ${id} needs 2 approvers, and 1 is registered`])
  await store.addApprover({ name: 'ben', publicKey: 'another key', roles: [], addedAt: 0, removedAt: null })
  expect(await found(2)).toEqual([])
  const approve = { ...QUESTION, role: 'owners', openedAt: Date.now(), expiresAt: Date.now() + DAY }
  await store.saveCheckpoint(lease, checkpoint('ask', { kind: 'approve', status: 'waiting' }), undefined, { approve })
  expect(await found(1)).toEqual([
    expect.stringMatching(/^approval apr_\w+ needs 1 approver with the role "owners", and 0 are registered$/),
  ])
})

test('doctor warns of a stop that has been in force for more than a day, with the command that ends it', async () => {
  const { store, dataDir } = await openTestProject()
  const by = { actor: 'cli:ada', reason: 'the wrong files' }
  await store.stopEffects({ kind: 'workflow', name: 'follow-up', since: Date.now() - DAY + 60_000, ...by })
  expect(await examine(store, dataDir)).toEqual([])
  await store.stopEffects({ kind: 'all', name: '', since: Date.now() - 2 * DAY - 1, ...by })
  expect(await examine(store, dataDir)).toEqual([
    {
      check: 'stop',
      level: 'warn',
      found: 'all effects have been stopped for over 2 days by cli:ada: the wrong files',
      fix: 'If the reason is over: upshot effects resume',
    },
  ])
})
