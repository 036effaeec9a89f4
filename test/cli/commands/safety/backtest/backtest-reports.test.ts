import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { openRecorded, TIDY, writeTidy, writeTidyIn } from './recorded-project.ts'

const SINCE = ['--since', '2020-01-01']
const EDITED = TIDY.replace(', { expect: file }', '')

test('accepted differences do not fail, and others do', async () => {
  const { cli } = await openRecorded(['tmp-a', 'mov-c'])
  const folder = writeTidy(EDITED)
  const backtest = (...args: string[]) => cli('backtest', 'tidy', ...SINCE, '--workflows', folder, ...args)
  expect((await backtest('--accept', '--dry-run')).exit).toBe(0)
  expect((await backtest()).exit).toBe(7)
  expect((await backtest('--accept')).exit).toBe(0)
  const kept = JSON.parse(readFileSync(join(folder, 'backtest/tidy.json'), 'utf8'))
  expect(kept).toEqual({ accepted: ['~ delete files.delete storage_a `expect` → no `expect`'] })
  const again = await backtest()
  expect([again.exit, again.stdout]).toEqual([0, expect.stringContaining('`expect` → no `expect`  accepted')])
  writeTidyIn(folder, EDITED.replace(`'note'`, `'notes'`))
  expect((await backtest()).exit).toBe(7)
})

test('nothing of a run is Markdown or HTML in the report', async () => {
  const { cli, runs } = await openRecorded(['tmp-a', 'mov-c'])
  const folder = writeTidy(TIDY.replace(`target: 'notes'`, `target: '<b>|x'`))
  const markdown = join(tempFolder(), 'r.md')
  const args = ['--workflows', folder, '--markdown', markdown]
  expect((await cli('backtest', 'tidy', ...SINCE, ...args)).exit).toBe(7)
  const comment = readFileSync(markdown, 'utf8')
  expect(comment).toContain('### Backtest of tidy: code ')
  expect(comment).toContain('| 1 | same |')
  expect(comment).toContain('<code>+ write note &#60;b&#62;&#124;x</code>')
  expect(comment).toContain(`\`upshot runs show ${runs[1]}\` (evt_1)`)
  expect(comment).not.toContain('<b>')
})

test('other code on the same answers is the other side: a commit, a folder or a module', async () => {
  const { cli } = await openRecorded(['tmp-a', 'mov-c'])
  const folder = tempFolder()
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
  writeTidyIn(folder, EDITED)
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'one')
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('upshot-against-'))
  const changed = EDITED.replace(
    `return { decision: outcome }`,
    `if (file.size > 7_000)
      return { decision: 'large' }
    return { decision: outcome, more: 1 }`,
  )
  writeTidyIn(folder, changed)
  const against = (code: string) =>
    cli('backtest', 'tidy', ...SINCE, '--workflows', folder, '--against', code, '--json')
  const { json, exit, stderr } = await against('HEAD')
  expect([exit, stderr]).toEqual([7, ''])
  expect(json.data).toMatchObject({
    against: 'HEAD',
    same: 1,
    groups: [{ key: '~ output `output` → other `output`: more', count: 1 }],
  })
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('upshot-against-'))).toEqual(before)
  expect(git('worktree', 'list').toString().trim().split('\n')).toHaveLength(1)
  const other = writeTidy(changed)
  expect((await against(other)).json.data).toMatchObject({ same: 2, groups: [] })
  const module = await against(join(writeTidy(EDITED), 'tidy.workflow.js'))
  expect(module.json.data).toMatchObject({ same: 1 })
  expect((await against('no-such-branch')).json.error.message).toContain('It is no commit, file or folder')
})
