import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EMPTY_BOOK } from '../../../../src/core/alerts/alert-book.ts'
import { startHook } from '../../../watch/alerts/support/hook-server.ts'
import { runHere } from '../../support/run-here.ts'
import { openTestProject } from '../../support/test-project.ts'

/** A project with one rule and a Slack channel at `url`. */
async function openProjectWithRule(url: string) {
  const { dataDir, store } = await openTestProject()
  const file = join(dataDir, 'upshot.config.ts')
  const alerts = {
    channels: { team: { kind: 'slack', url: '$TEAM_HOOK' } },
    rules: ['run.failed', 'disk.low'].map((when) => ({ when, to: ['team'] })),
  }
  writeFileSync(file, `export default ${JSON.stringify({ alerts })}`)
  const text = (...args: string[]) => runHere(dataDir, [...args, '--config', file], { env: { TEAM_HOOK: url } })
  const cli = (...args: string[]) => text(...args, '--json')
  return { cli, text, store }
}

test('"alerts test" sends a message that says it is a test, and leaves an audit row', async () => {
  const hook = await startHook()
  const { cli, store } = await openProjectWithRule(hook.url)
  expect(await cli('alerts', 'test', 'run.failed')).toMatchObject({
    exit: 0,
    json: { data: [{ channel: 'team', error: null }] },
  })
  expect(hook.posted.map(({ body }) => JSON.parse(body).text)).toEqual([
    expect.stringContaining('new: this is a test, nothing is wrong'),
  ])
  expect(await store.listActions({ limit: 1 })).toMatchObject([{ action: 'alert.test', target: 'run.failed' }])
})

test('"alerts list" shows what is open, the channels that refuse, and with --past what is over', async () => {
  const { cli, text, store } = await openProjectWithRule('http://127.0.0.1:9/x')
  const topic = { id: 'grp_1', title: 'follow-up fails', page: '/', command: 'runs list', since: 1, count: 7 }
  const unreported = { seenAt: 2, sentCount: null, lastSentAt: null, endedAt: null, sendingUntil: null }
  const book = {
    topics: [{ ...topic, ...unreported }],
    past: [{ ...topic, title: 'other fails', endedAt: 60_000, lastSentAt: 60_000 }],
    channels: [{ channel: 'team', at: 3, error: 'hooks.example.com answered 500' }],
  }
  await store.saveAlertBook('run.failed', { ...EMPTY_BOOK, ...book }, 0)
  expect((await cli('alerts', 'list')).json).toMatchObject({
    data: [
      {
        name: 'run.failed',
        channels: [{ name: 'team', sentAt: '1970-01-01T00:00:00.003Z' }],
        open: [{ title: 'follow-up fails', count: 7 }],
        past: [{}],
      },
      {},
    ],
  })
  const full = { ...topic, id: 'disk', title: '69 % of the disk is used', count: 0.69 }
  await store.saveAlertBook('disk.low', { ...EMPTY_BOOK, topics: [{ ...full, ...unreported }] }, 0)
  const lines = async (...args: string[]) => (await text('alerts', 'list', ...args)).stdout
  expect(await lines()).toMatch(/follow-up fails \(7\), since .*, not sent yet\n.*team did not take .*answered 500/)
  expect(await lines()).toMatch(/69 % of the disk is used, since /)
  expect(await lines()).not.toContain('other fails')
  expect(await lines('--past')).toMatch(/other fails \(7\), since .*, over since/)
})

test('commands on the database need no variable of a channel, and those that send or start name it', async () => {
  const { cli } = await openProjectWithRule('')
  for (const command of [['runs', 'list'], ['status'], ['alerts', 'list'], ['db', 'verify']]) {
    expect([command, (await cli(...command)).json.error?.code ?? null]).toEqual([
      command,
      command[0] === 'status' ? 'not_running' : null,
    ])
  }
  const refused = { exit: 2, json: { error: { message: expect.stringContaining('TEAM_HOOK is missing') } } }
  for (const command of [['alerts', 'test', 'run.failed'], ['start'], ['config', 'show']]) {
    expect(await cli(...command)).toMatchObject(refused)
  }
})
