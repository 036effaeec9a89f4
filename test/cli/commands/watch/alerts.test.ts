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
    rules: [{ when: 'run.failed', to: ['team'] }],
  }
  writeFileSync(file, `export default ${JSON.stringify({ alerts })}`)
  const cli = (...args: string[]) =>
    runHere(dataDir, [...args, '--json', '--config', file], { env: { TEAM_HOOK: url } })
  return { cli, store }
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

test('"alerts test" names the rules where there is no such one', async () => {
  const { cli } = await openProjectWithRule('http://127.0.0.1:9/x')
  expect((await cli('alerts', 'test', 'run.fails')).json).toMatchObject({
    error: { code: 'not_found', fix: 'Choose one of: run.failed.' },
  })
})

test('"alerts list" shows each rule with the topics that are open', async () => {
  const { cli, store } = await openProjectWithRule('http://127.0.0.1:9/x')
  const topic = {
    id: 'grp_1',
    title: 'follow-up fails',
    page: '/',
    command: 'runs list',
    since: 1,
    seenAt: 2,
    count: 7,
  }
  const untold = { told: null, toldAt: null, endedAt: null, sendingUntil: null }
  await store.saveAlertBook('run.failed', { ...EMPTY_BOOK, topics: [{ ...topic, ...untold }] }, 0)
  expect((await cli('alerts', 'list')).json).toMatchObject({
    data: [{ name: 'run.failed', to: ['team'], topics: [{ title: 'follow-up fails', count: 7 }] }],
  })
})
