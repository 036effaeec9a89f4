import { userInfo } from 'node:os'
import { expect } from 'vitest'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import { queueRun } from '../../support/fixtures.ts'
import { saveLine } from '../../support/lines.ts'
import { failRun, test } from '../support/test-project.ts'

/** Each command that changes the project, with the action that it leaves in the audit log. */
test('every command that changes a project leaves a row in the audit log, with its reason', async ({ cli, store }) => {
  await store.addEndpoint(planEndpoint({ name: 'shop' }, Date.now()))
  await saveLine(store, 'nightly', Date.now())
  const failed = await failRun(store, 'evt_1')
  const forked = await failRun(store, 'evt_2')
  const queued = await queueRun(store, 'evt_3')
  // A reseal is refused beside it.
  await store.close()
  const commands: [string[], string, string | null][] = [
    [['runs', 'retry', failed], 'run.retry', failed],
    [['runs', 'fork', forked, '--from-step', 'b'], 'run.fork', forked],
    [['runs', 'cancel', queued], 'run.cancel', queued],
    [['events', 'replay', 'evt_3'], 'event.replay', 'evt_3'],
    [['workflows', 'pause', 'count'], 'workflow.pause', 'count'],
    [['workflows', 'resume', 'count'], 'workflow.resume', 'count'],
    [['schedules', 'pause', 'nightly'], 'schedule.pause', 'nightly'],
    [['schedules', 'resume', 'nightly'], 'schedule.resume', 'nightly'],
    [['schedules', 'run', 'nightly'], 'schedule.run', 'nightly'],
    [['endpoints', 'add', 'new'], 'endpoint.add', 'new'],
    [['endpoints', 'rotate', 'shop'], 'endpoint.change', 'shop'],
    [['endpoints', 'disable', 'shop'], 'endpoint.change', 'shop'],
    [['endpoints', 'remove', 'shop', '--yes'], 'endpoint.remove', 'shop'],
    [['tokens', 'add', 'ci'], 'token.add', expect.stringMatching(/^tok_/) as never],
    [['tokens', 'revoke', 'ci', '--yes'], 'token.revoke', expect.stringMatching(/^tok_/) as never],
    [['effects', 'stop'], 'effects.stop', 'all effects'],
    [['effects', 'resume'], 'effects.resume', 'all effects'],
    [['effects', 'restored', '--yes'], 'effects.restored', 'ledger'],
    [['workflows', 'remove', 'count', '--yes'], 'workflow.remove', 'count'],
    [['db', 'prune', '--yes'], 'db.prune', null],
    [['db', 'reseal', '--yes'], 'db.reseal', null],
  ]
  const actor = `cli:${userInfo().username}`
  for (const [args, action, target] of commands) {
    const done = await cli(...args, '--reason', `why ${action}`)
    expect(done.json, args.join(' ')).toMatchObject({ ok: true })
    const { json } = await cli('audit', 'list', '--limit', '1')
    expect(json).toMatchObject({ data: [{ action, target, actor, reason: `why ${action}` }] })
  }
})
