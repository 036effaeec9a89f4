import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkOut } from '../../../src/app/backtest/check-out.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** A project in git with two commits of a module, and a hook that leaves a mark. */
function openProject() {
  const root = realpathSync(tempFolder())
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' })
  git('init', '--quiet', '--initial-branch=main')
  for (const [name, value] of Object.entries({ 'user.name': 'ann', 'user.email': 'ann@example.com' }))
    git('config', name, value)
  const module = join(root, 'copy.workflow.js')
  for (const text of ['old', 'new']) {
    writeFileSync(module, text)
    git('add', '.')
    git('commit', '--quiet', '-m', text)
  }
  const mark = join(root, 'hook-ran')
  writeFileSync(join(root, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
  return { root, git, module, mark }
}

test('the code of a commit is had without a hook of the project', async () => {
  const { root, git, mark } = openProject()
  {
    await using code = await checkOut('HEAD~1', root)
    expect(readFileSync(join(code.workflowsDir, 'copy.workflow.js'), 'utf8')).toBe('old')
    expect(git('worktree', 'list').trim().split('\n')).toHaveLength(2)
  }
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(existsSync(mark)).toBe(false)
})

test('a backtest in a hook before a commit leaves that commit as it is', async () => {
  const { root, git, module } = openProject()
  writeFileSync(module, 'next')
  git('add', '.')
  // As git gives them to its hooks in `git commit --all`.
  for (const [name, value] of Object.entries({
    GIT_DIR: '.git',
    GIT_INDEX_FILE: join(root, '.git/index'),
    GIT_PREFIX: '',
  }))
    vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  await using code = await checkOut('HEAD~1', root)
  expect(readFileSync(join(code.workflowsDir, 'copy.workflow.js'), 'utf8')).toBe('old')
  vi.unstubAllEnvs()
  expect(git('show', ':copy.workflow.js')).toBe('next')
})
