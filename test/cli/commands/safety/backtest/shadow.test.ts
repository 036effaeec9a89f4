import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openShadows } from '../../../../../src/app/backtest/open-shadows.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { testConfig } from '../../../../support/test-config.ts'
import { runHere } from '../../../support/run-here.ts'
import { openRecorded, TIDY, writeTidyIn } from './recorded-project.ts'

const SINCE = ['--since', '2020-01-01']
const KEY = '~ write note notes `input` → other `input`: size'
const NO_SIZE = TIDY.replace(`file: file.id, size: file.size`, `file: file.id`)

/** A project with recorded runs of `tidy`, and a folder of modules for it. */
async function openProject(files: string[]) {
  const project = await openRecorded(files)
  const workflowsDir = tempFolder()
  writeTidyIn(workflowsDir, TIDY)
  const module = { id: 'tidy', file: 'tidy.workflow.ts', eventTypes: ['file.created'], schedule: null }
  await project.store.saveWorkflows({ workflows: [module], broken: [] }, project.clock.now())
  const env = { UPSHOT_WORKFLOWS_DIR: workflowsDir }
  return {
    ...project,
    workflowsDir,
    write: (code: string) => writeTidyIn(workflowsDir, code, '', { file: 'tidy.shadow.ts' }),
    shadow: (...args: string[]) => runHere(project.folder, ['backtest', 'tidy', '--shadow', ...args], { env }),
  }
}

test('a shadow is the code of a backtest, which exits with 7 until its differences are accepted', async () => {
  const { shadow, write, workflowsDir } = await openProject(['mov-a', 'mov-b', 'tmp-c'])
  const none = await shadow(...SINCE)
  expect(none.stderr).toContain('The workflow "tidy" has no shadow.')
  expect(none.stderr).toContain('Write its new version beside tidy.workflow.ts, as tidy.shadow.ts, with the same id.')
  expect(none.exit).toBe(5)
  write(NO_SIZE)
  const told = await shadow(...SINCE)
  expect(told.stdout).toMatch(/^tidy: code \w{8} against what 3 runs did\n/)
  expect(told.stdout).toContain(`2  ${KEY}\n`)
  expect(told.stderr).toMatch(/: mv \S+tidy\.shadow\.ts \S+tidy\.workflow\.ts\n/)
  expect(told.exit).toBe(7)
  expect((await shadow(...SINCE, '--accept')).exit).toBe(0)
  expect(JSON.parse(readFileSync(join(workflowsDir, 'backtest/tidy.json'), 'utf8'))).toEqual({ accepted: [KEY] })
  expect((await shadow(...SINCE)).exit).toBe(0)
  expect((await shadow('--since', '1m')).exit).toBe(5)
})

test('for alerts, the runs of a stretch of time are previewed aside, and what is accepted is left out', async () => {
  const { write, store, folder, workflowsDir, clock } = await openProject(['mov-a', 'mov-b'])
  write(NO_SIZE)
  const over = new AbortController()
  onTestFinished(() => over.abort())
  const preview = openShadows(testConfig(folder, { workflowsDir }), store, over.signal)
  const until = clock.now() + 1
  const asked = { rule: 'a', workflow: null, since: 0, until }
  const previewed = async (stretch = asked) => {
    for (let found = preview(stretch); ; found = preview(stretch)) {
      if (found !== null) return found
      await sleep(20)
    }
  }
  const [found] = (await previewed()).found
  expect(found).toMatchObject({ workflow: 'tidy', error: null, groups: [{ key: KEY, count: 2 }] })
  expect(await previewed({ ...asked, since: until, until: until + 1 })).toEqual({ until: until + 1, found: [] })
  mkdirSync(join(workflowsDir, 'backtest'))
  writeFileSync(join(workflowsDir, 'backtest/tidy.json'), JSON.stringify({ accepted: [KEY] }))
  expect((await previewed()).found).toMatchObject([{ code: found?.code, groups: [] }])
  writeFileSync(join(workflowsDir, 'tidy.shadow.ts'), 'export default 1\n')
  const broken = (await previewed()).found
  expect(broken).toMatchObject([{ groups: [], error: expect.stringContaining('has no workflow') }])
})
