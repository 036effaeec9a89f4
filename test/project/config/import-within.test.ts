import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'

const IMPORT_WITHIN = join(import.meta.dirname, '../../../src/project/config/import-within.ts')

// A process of its own for each: a loop without end holds its main thread.
test.each([
  ['const spin = () => {\n  for (let n = 0; ; ) n++\n}\nspin()', 'did not load within 0.1 s. It loops at file.ts:2.'],
  ['await new Promise(() => {})', 'did not load within 0.1 s. It waits for something that never comes.'],
  [
    `throw new Error('of its own')`,
    /^invalid_config \S+file\.ts cannot be loaded: Error: of its own \(at \S+file\.ts:1\)$/m,
  ],
  ['const n =', /^invalid_config \S+file\.ts cannot be loaded: SyntaxError: .* \(at \S+file\.ts:2\)$/m],
  ['', 'loaded'],
])('a project file of %j ends with its own error, or with that of the time', async (code, expected) => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'file.ts'), `${code}\nexport default {}\n`)
  const script = `const { importWithin } = await import(${JSON.stringify(IMPORT_WITHIN)})
    const end = importWithin(${JSON.stringify(join(folder, 'file.ts'))}, ${expected === 'loaded' ? 60_000 : 100})
    console.log(await end.then(() => 'loaded', (error) => error.code + ' ' + error.message))`
  writeFileSync(join(folder, 'main.mjs'), script)
  const { stdout } = await promisify(execFile)(process.execPath, ['main.mjs'], { cwd: folder })
  expect(stdout).toMatch(expected)
})
