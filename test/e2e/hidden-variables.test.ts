import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere } from '../cli/support/run-here.ts'
import { DOOR } from '../support/program.ts'
import { makeProject, startIn } from '../support/start-process.ts'

const SECRETS = {
  SERVICE_API_KEY: 'sk_live_hidden_key',
  SERVICE_API_KEY_FALLBACK: 'sk_live_hidden_fallback',
  SERVICE_WEBHOOK_SECRET: 'whsec_hidden_0123456789abcdef0123456789',
  UPSHOT_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  OPS_HOOK: 'https://hooks.example.com/hidden',
}
const OPEN = {
  SERVICE_BASE_URL: 'https://api.example.com/v1',
  SERVICE_STORAGE_A: 'a',
  SERVICE_STORAGE_B: 'b',
  SERVICE_STORAGE_C: 'c',
  OWN: 'kept',
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
const give = (id) => defineWorkflow({ id, on: 'look.now', run: async () => {
  try {
    const given = ask({ ...process.env, ...upshotVariables() }).filter((name) => names.includes(name))
    writeFileSync(id + '.json', JSON.stringify(given.sort()))
  } catch (error) {
    writeFileSync(id + '.json', JSON.stringify(error.message))
  }
} })
let early = null
try { upshotVariables() } catch (error) { early = error.message }
writeFileSync('seen.json', JSON.stringify({ code: seen(process.env), child, early }))
export { give }
`

const workflow = (id: string) => `import { give } from './look.ts'\nexport default give('${id}')\n`

test('code sees no key of the app, and only a workflow that the project names may give them to a child', async () => {
  const root = makeProject({
    'look.ts': LOOK,
    'named.workflow.ts': workflow('named'),
    'other.workflow.ts': workflow('other'),
  })
  const config = `export default { outside: { keys: ['named'] }, alerts: {
    channels: { ops: { kind: 'slack', url: '$OPS_HOOK' } }, rules: [{ when: 'run.failed', to: ['ops'] }] } }`
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config/upshot.config.ts'), config)
  const app = startIn(root, { ...SECRETS, ...OPEN })
  await app.line((line) => line.message === 'started')
  const read = (name: string) => JSON.parse(readFileSync(join(root, `${name}.json`), 'utf8'))
  expect(read('seen')).toEqual({ code: ['OWN'], child: ['OWN'], early: expect.stringContaining('outside of runs') })
  const sent = await runHere(join(root, 'data'), ['trigger', 'look.now', '--json'], { env: { ...SECRETS, ...OPEN } })
  expect(sent.exit, sent.stderr).toBe(0)
  for (const id of ['named', 'other'])
    await app.line((line) => line.message === 'run completed' && line.workflow === id)
  expect(read('named')).toEqual([...NAMES].sort())
  expect(read('other')).toMatch(/"other" calls upshotVariables\(\).*outside: { keys: \['other'\] }/)
})
