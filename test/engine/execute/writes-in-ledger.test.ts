import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { DEFAULT_POLICY, type GuardPolicy } from '../../../src/core/safety/guard.ts'
import { createTestEngine } from '../../support/test-engine.ts'

const busy = defineWorkflow({
  id: 'busy',
  on: '*',
  retry: { attempts: 1 },
  async run({ step }) {
    await step.run('look', () => 1, { effect: 'read' })
    await step.run('tell', () => 2, { target: 'chat:ops' })
    await step.run(['count', 'a'], () => 3)
    await step.run('describe', () => 4, { input: { of: 'a' } })
    await step.run('pay', () => 5, { once: true })
    await step.run('fail', () => Promise.reject(new Error('no luck')))
  },
})

async function ledgerOf(ledger: GuardPolicy['ledger']) {
  const engine = createTestEngine()
  await engine.start([busy], { guard: { ...DEFAULT_POLICY, ledger } })
  await engine.run('busy')
  const rows = await engine.store.listEffects({ after: 0, limit: 20 })
  return rows.map(({ phase, step, outcome, asked }) => [phase, step, outcome, asked])
}

const TOLD = ['done', 'tell', 'done', null]
const PAID = [
  ['begun', 'pay', null, null],
  ['ended', 'pay', 'done', null],
]

test('the ledger has the writes that name a target, and those with `once`', async () => {
  expect(await ledgerOf('targeted')).toEqual([TOLD, ...PAID])
})

test('with the setting `all` it has every write, done or failed, and no read', async () => {
  expect(await ledgerOf('all')).toEqual([
    TOLD,
    ['done', 'count[a]', 'done', null],
    ['done', 'describe', 'done', '{"input":{"of":"a"}}'],
    ...PAID,
    ['done', 'fail', 'failed', null],
  ])
})
