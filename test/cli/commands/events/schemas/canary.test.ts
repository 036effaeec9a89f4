import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runCommandLine } from '../../../../../src/cli/run-command-line.ts'
import { eventBody, incoming } from '../../../../support/fixtures.ts'
import { openDataDir } from '../../../../support/open-data-dir.ts'
import { DOOR } from '../../../../support/program.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { runHere } from '../../../support/run-here.ts'

/** Definitions that no event fits, each by another rule, with the value in their message. */
const MODULE = `
import { defineEvent, defineWorkflow, z } from '${DOOR}'
const rule = (schema) => z.looseObject({ word: schema })
const told = (issue) => 'not ' + JSON.stringify(issue.input)
const on = [
  defineEvent('canary.type', { data: rule(z.number({ error: told })) }),
  defineEvent('canary.enum', { data: rule(z.enum(['a', 'b'], { error: told })) }),
  defineEvent('canary.format', { data: rule(z.email({ error: told })) }),
  defineEvent('canary.size', { data: rule(z.string().max(2, { error: told })) }),
  defineEvent('canary.own', { data: rule(z.string().refine(() => false, { error: told })) }),
  defineEvent('canary.names', { data: z.strictObject({}) }),
]
export default defineWorkflow({ id: 'canary', on, async run() {} })
`

const TYPES = ['type', 'enum', 'format', 'size', 'own', 'names'].map((name) => `canary.${name}`)

async function openCanaries() {
  const dataDir = tempFolder()
  const workflows = join(dataDir, 'workflows')
  mkdirSync(workflows)
  writeFileSync(join(workflows, 'a.workflow.ts'), MODULE)
  const store = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  for (const type of TYPES)
    for (let n = 0; n < 60; n++) {
      // A value that comes often looks like a word of an enumeration, but for its name.
      const data = { word: `secret${n}x`, token: `secret${n % 2}x`, more: { url: `https://a.example/secret${n}x` } }
      const body = eventBody(`evt_${type}_${n}`, type, data)
      await store.saveDelivery(incoming('', { body, receivedAt: Date.now() }))
    }
  const env = { UPSHOT_WORKFLOWS_DIR: workflows }
  return { dataDir, workflows, env, cli: (...args: string[]) => runHere(dataDir, args, { env }) }
}

test('no value of an event is in what "types generate", "types check" and "coverage" print or write', async () => {
  const { workflows, cli } = await openCanaries()
  const generated = join(workflows, 'events.gen.ts')
  const texts: string[] = []
  for (const args of [
    ['types', 'generate'],
    ['types', 'generate', '--json'],
    ['types', 'generate', '--out', generated],
    ['types', 'check'],
    ['types', 'check', '--json'],
    ['coverage'],
    ['coverage', '--json'],
  ]) {
    const { stdout, stderr } = await cli(...args)
    texts.push(stdout, stderr)
  }
  texts.push(readFileSync(generated, 'utf8'), readFileSync(join(workflows, 'events.shapes.json'), 'utf8'))
  for (const each of texts) expect(each).not.toContain('secret')
  const { json } = await cli('types', 'check', '--json')
  const faults = json.data.definitions.map((each: { type: string; first: { fault: string } }) => each.first.fault)
  expect(faults.toSorted()).toEqual([
    'does not fit as expected: text',
    'expected email, is another text',
    'expected number, is text',
    'has 3 names that were not expected',
    'is not one of the expected values: text',
    'is out of the expected bounds: text',
  ])
})

test('"types check --show-values" shows the value on a terminal, and nowhere else', async () => {
  const { dataDir, env, cli } = await openCanaries()
  expect(await cli('types', 'check', '--show-values')).toMatchObject({ exit: 2, stdout: '' })
  const streams = { stdout: Object.assign(new PassThrough(), { isTTY: true, columns: 200 }), stderr: new PassThrough() }
  for (const [name, value] of Object.entries({ ...env, UPSHOT_DATA_DIR: dataDir })) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const shown = text(streams.stdout)
  expect(await runCommandLine(['types', 'check', '--show-values'], streams)).toBe(7)
  streams.stdout.end()
  expect(await shown).toContain('not "secret59x" (it is "secret59x")')
})
