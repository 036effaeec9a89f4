import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { AnswerOf } from '../../../../src/admin/client/index.ts'
import { App } from '../../../../src/app/app.ts'
import { DOOR } from '../../../support/program.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { NO_SERVICE, testConfig, WEBHOOK_SECRET } from '../../../support/test-config.ts'
import { runHere } from '../../support/run-here.ts'

const own = (options: string) => `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'own', on: '*', run() {}, ${options} })`
const twin = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'twin', on: '*', run() {} })`

/** A module's code, and the reason that is told of it. */
const MODULES: Record<string, [code: string, reason: RegExp]> = {
  'decorator.workflow.ts': ['class A { @b c() {} }', /token\. Node reads no decorators\. .* with this file/],
  'enum.workflow.ts': ['\nenum Color { Red }', /strip-only mode\. Node only removes types: .*enum \(at .*:2\)\. Mend/],
  'exits.workflow.ts': [
    'process.exit(3)',
    /^The module is skipped: it ended the engine while .* start the app again\.$/,
  ],
  'extension.workflow.ts': [`import './events'`, /Cannot find module .*\. An import names the whole file/],
  'json.workflow.ts': [`import data from './data.json'`, /"type: json"\. Write behind its path/],
  'odd.workflow.ts': ['export default {', /^SyntaxError: .*\. Mend the module\. Then start the app again\.$/s],
  'option.workflow.ts': [
    own('retries: 3'),
    /^Workflow "own" .* retries: is not known \(at .*option\.workflow\.ts:2\)\. Then start the app again\.$/,
  ],
  'package.workflow.ts': [`import 'no-such-package'`, /Cannot find package .*\. Install it with npm\. Mend/],
  'path.workflow.ts': [`import '@/events.ts'`, /Cannot find package '@\/events.ts' .*\. Node does not read "paths"/],
  'throws.workflow.ts': [
    `\nthrow new TypeError('no ${WEBHOOK_SECRET}')`,
    /^TypeError: no \[redacted\] \(at .*throws\.workflow\.ts:2\)\. Mend the module\. Then start the app again\.$/,
  ],
  'twin-a.workflow.ts': [
    twin,
    /^twin-a.workflow.ts and twin-b.workflow.ts both define .* Rename one of them\. Then start the app again\.$/,
  ],
  'twin-b.workflow.ts': [twin, /both define the workflow "twin"/],
  'type.workflow.ts': [
    `import { Stats } from 'node:net'`,
    /export named 'Stats'\. A type needs .* \(at .*type\.workflow\.ts:1\)/,
  ],
  'wrong.workflow.ts': [`import './events.js'`, /Cannot find module .*\. If the file ends in \.ts, so does its import/],
}
const FILES = Object.keys(MODULES)

test('modules that cannot be loaded are named with the reason by /readyz and the commands', async () => {
  const dataDir = tempFolder()
  const workflowsDir = tempFolder()
  writeFileSync(join(workflowsDir, 'data.json'), '{}')
  for (const [file, [code]] of Object.entries(MODULES)) writeFileSync(join(workflowsDir, file), code)
  const app = await App.create(testConfig(dataDir, { workflowsDir, service: NO_SERVICE }))
  onTestFinished(() => app.stop())
  const urls = await app.start()
  const env = { UPSHOT_WORKFLOWS_DIR: workflowsDir }
  const { data } = (await runHere(dataDir, ['status', '--json'], { env })).json
  const [{ broken, pid } = { broken: [], pid: 0 }] = (data as AnswerOf<'GET /system'>).processes
  expect(pid).toBe(process.pid)
  expect(broken.map(({ file }) => file)).toEqual(FILES)
  for (const { file, reason } of broken) expect(reason).toMatch(MODULES[file]?.[1] ?? /never/)
  const told = broken.map(({ file, reason }) => `${file} cannot be loaded: ${reason}`)
  expect((data as AnswerOf<'GET /system'>).warnings).toEqual(told)
  const ready = await fetch(`${urls.admin}/readyz`)
  expect(ready.status).toBe(200)
  expect(await ready.json()).toMatchObject({ ready: true, warnings: told })
  const [, exits = ''] = /(exits.workflow.ts cannot be loaded: .*)/.exec(told.join('\n')) ?? []
  expect((await runHere(dataDir, ['status'], { env })).stdout).toContain(exits)
  expect((await runHere(dataDir, ['workflows', 'list'], { env })).stderr).toContain(exits)
  expect(await runHere(dataDir, ['doctor'], { env })).toMatchObject({ exit: 7, stdout: expect.stringContaining(exits) })
})
