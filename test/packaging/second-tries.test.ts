import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { tempFolder } from '../support/temp-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')

const TESTS = `import { expect, test } from 'vitest'
let tries = 0
test('passes at last', () => expect(++tries).toBe(2))
test('passes at once', () => {})`

const CONFIG = `import { SecondTries } from ${JSON.stringify(join(ROOT, 'test/support/second-tries.ts'))}
export default { test: { reporters: ['default', new SecondTries()] } }`

test('a test that needs a second try is named at the end of the log, with what it failed with', async () => {
  const root = tempFolder()
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  writeFileSync(join(root, 'sample.test.mjs'), TESTS)
  writeFileSync(join(root, 'vitest.config.mjs'), CONFIG)
  const env = { ...CHILD_ENVIRONMENT, NO_COLOR: '1', UPSHOT_SECOND_TRIES: join(root, 'tries.txt') }
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, 'run', '--retry', '1'], { cwd: root, env })
  const list = readFileSync(join(root, 'tries.txt'), 'utf8')
  expect(list).toMatch(
    /^A TEST FAILED AND PASSED AT THE NEXT TRY\..*\nsample\.test\.mjs > passes at last\n {2}expected 1 to be 2/,
  )
  expect(list).not.toContain('passes at once')
  expect(stdout.trim().endsWith(list.trim())).toBe(true)
})
