import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { CLI } from '../support/program.ts'
import { startIn } from '../support/start-process.ts'
import { tempFolder } from '../support/temp-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** `npm start` in this repository, with a data directory of its own. */
function startAsNewcomer() {
  const dataDir = join(tempFolder(), 'data')
  const { line, lines } = startIn(ROOT, { UPSHOT_DATA_DIR: dataDir })
  const options = { cwd: ROOT, env: { ...CHILD_ENVIRONMENT, UPSHOT_DATA_DIR: dataDir }, encoding: 'utf8' } as const
  const upshot = (...args: string[]) =>
    JSON.parse(execFileSync(process.execPath, [CLI, ...args, '--json'], options)).data
  const completed = (count: number) =>
    line(() => lines.filter(({ message }) => message === 'run completed').length >= count)
  return { dataDir, upshot, completed }
}

test('a newcomer sees only completed runs: of the samples, of a dropped file and of a trigger', async () => {
  const { dataDir, upshot, completed } = startAsNewcomer()
  await completed(4)
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, inbox = 'none'] = /`data\/(storages\/storage_a\/\w+)`/.exec(readme) ?? []
  expect(existsSync(join(dataDir, inbox)), 'the folder that the README names exists').toBe(true)
  writeFileSync(join(dataDir, inbox, 'mine.txt'), 'mine')
  await completed(5)
  expect(upshot('trigger', 'file.created').deliveries).toMatchObject([{ runs: [expect.any(String)] }])
  await completed(6)
  const runs: { workflow: string; status: string }[] = upshot('runs', 'list')
  expect(runs.map(({ status }) => status)).toEqual(Array(6).fill('completed'))
  expect(new Set(runs.map(({ workflow }) => workflow))).toEqual(new Set(['intake-new-file', 'verify-transfer']))
})
