import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeProject, startIn } from '../support/start-process.ts'

const DOOR = join(import.meta.dirname, '../../src/author/index.ts')
const SECRETS = {
  SERVICE_API_KEY: 'sk_live_hidden_key',
  SERVICE_API_KEY_FALLBACK: 'sk_live_hidden_fallback',
  SERVICE_WEBHOOK_SECRET: 'whsec_hidden_0123456789abcdef0123456789',
  UPSHOT_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  OPS_HOOK: 'https://hooks.example.com/hidden',
}
const OPEN = {
  SERVICE_BASE_URL: 'https://api.example.com/v1',
  ...{ SERVICE_STORAGE_A: 'a', SERVICE_STORAGE_B: 'b', SERVICE_STORAGE_C: 'c', OWN: 'kept' },
}
const NAMES = [...Object.keys(SECRETS), 'OWN']

const LOOK = `import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { defineWorkflow, upshotVariables } from '${DOOR}'
const names = ${JSON.stringify(NAMES)}
const seen = (env) => names.filter((name) => env[name] !== undefined)
const SHOW = ['-p', 'JSON.stringify(Object.keys(process.env))']
const ask = (env) => JSON.parse(execFileSync(process.execPath, SHOW, { env }))
const child = ask(process.env).filter((name) => names.includes(name))
const given = ask({ ...process.env, ...upshotVariables() }).filter((name) => names.includes(name))
writeFileSync('seen.json', JSON.stringify({ code: seen(process.env), child, given: given.sort() }))
export default defineWorkflow({ id: 'look', on: 'file.created', run: async () => {} })
`

test('code of a workflow and its children see no key of the app, but for a child that is given them', async () => {
  const root = makeProject({ 'look.workflow.ts': LOOK })
  const config = `export default { alerts: {
    channels: { ops: { kind: 'slack', url: '$OPS_HOOK' } }, rules: [{ when: 'run.failed', to: ['ops'] }] } }`
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config/upshot.config.ts'), config)
  const app = startIn(root, { ...SECRETS, ...OPEN })
  await app.line((line) => line.message === 'started')
  const read = () => JSON.parse(readFileSync(join(root, 'seen.json'), 'utf8'))
  expect(read()).toEqual({ code: ['OWN'], child: ['OWN'], given: [...NAMES].sort() })
})
