import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/project/config/load-config.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const TEAM = { kind: 'slack', url: '$TEAM_HOOK' }
const ENVIRONMENT = { TEAM_HOOK: 'https://hooks.example.com/T/B/x' }

/** The alerts of a project file, by these rules and channels. */
async function readAlerts(alerts: object, environment: Record<string, string> = ENVIRONMENT) {
  const root = tempFolder()
  const configFile = join(root, 'upshot.config.ts')
  writeFileSync(configFile, `export default ${JSON.stringify({ alerts })}`)
  return (await loadConfig(environment, root, { configFile })).alerts
}

test('a rule is completed with the bounds of its kind, and a channel with its variables', async () => {
  const rules = [
    { when: 'run.failed', workflow: 'tour', every: '1h', to: ['team'] },
    { when: 'queue.age', to: ['team'] },
    { when: 'queue.age', name: 'stands', over: '2m', for: '30s', to: ['team'] },
    { when: 'disk.low', to: ['team'] },
    { when: 'endpoint.silent', to: ['team'] },
  ]
  expect(await readAlerts({ channels: { team: TEAM, unused: { kind: 'slack', url: '$NEVER_SET' } }, rules })).toEqual({
    channels: { team: { kind: 'slack', url: 'https://hooks.example.com/T/B/x' } },
    rules: [
      { name: 'run.failed:tour', when: 'run.failed', workflow: 'tour', over: 0, forMs: 0, everyMs: 3_600_000 },
      { name: 'queue.age', when: 'queue.age', workflow: null, over: 60_000, forMs: 300_000, everyMs: 900_000 },
      { name: 'stands', when: 'queue.age', workflow: null, over: 120_000, forMs: 30_000, everyMs: 900_000 },
      { name: 'disk.low', when: 'disk.low', workflow: null, over: 0.9, forMs: 0, everyMs: 900_000 },
      { name: 'endpoint.silent', when: 'endpoint.silent', workflow: null, over: 0, forMs: 3_600_000, everyMs: 900_000 },
    ].map((rule) => ({ ...rule, to: ['team'] })),
  })
})

test.each([
  [{ when: 'run.failed', to: ['nobody'] }, /names no channel "nobody"/],
  [{ when: 'run.fails', to: ['team'] }, /alerts\.rules\.0\.when/],
  [{ when: 'run.failed', to: [] }, /alerts\.rules\.0\.to/],
  [{ when: 'run.failed', over: '5m', to: ['team'] }, /must be a number/],
  [{ when: 'disk.low', over: 90, to: ['team'] }, /must be a share of the disk/],
  [{ when: 'queue.age', over: 'long', to: ['team'] }, /must be a duration such as "60s"/],
  [{ when: 'run.waits', for: '1 second', to: ['team'] }, /must be a duration/],
])('the alert rule %j is refused', async (rule, message) => {
  await expect(readAlerts({ channels: { team: TEAM }, rules: [rule] })).rejects.toThrow(message)
})

test('two rules of one name are refused', async () => {
  const rule = { when: 'run.failed', to: ['team'] }
  await expect(readAlerts({ channels: { team: TEAM }, rules: [rule, rule] })).rejects.toThrow(/"run.failed" is taken/)
})

test('a secret that stands in the project file is refused, and not printed', async () => {
  const channels = { team: { kind: 'slack', url: 'https://hooks.example.com/T/B/x' } }
  const refusal = await readAlerts({ channels, rules: [] }).catch(String)
  expect(refusal).toMatch(/alerts\.channels\.team\.url: is secret: write "\$"/)
  expect(refusal).not.toMatch(/T\/B/)
})

test.each([
  [TEAM, {}, /TEAM_HOOK is missing: it should be the https address of the alert channel "ops"/],
  [TEAM, { TEAM_HOOK: 'http://hooks.example.com/T' }, /TEAM_HOOK is not valid/],
  [{ kind: 'webhook', url: '$TEAM_HOOK', secret: '$S' }, { ...ENVIRONMENT, S: 'short' }, /S is not valid/],
  [
    { kind: 'email', smtp: '$S', from: 'a@b.example', to: ['c@d.example'] },
    { S: 'smtp://mail.example.com' },
    /S is not valid/,
  ],
])(
  'the channel %j with the variables %j is refused by the name of the variable',
  async (channel, environment, message) => {
    const rules = [{ when: 'run.failed', to: ['ops'] }]
    await expect(readAlerts({ channels: { ops: channel }, rules }, environment)).rejects.toThrow(message)
  },
)
