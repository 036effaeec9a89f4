import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { devNull, tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { UpshotError } from '../../core/errors.ts'
import { openEnvironment } from '../../project/config/environment.ts'

/** Code that a backtest tries or compares with, as a folder of modules. */
interface OtherCode extends AsyncDisposable {
  workflowsDir: string
}

const run = promisify(execFile)

/**
 * Makes a folder of other code: a module, a folder, or a commit in a working tree of its own.
 * `workflowsDir` is that of the code that is tried.
 */
export async function checkOut(against: string, workflowsDir: string): Promise<OtherCode> {
  if (existsSync(against)) return openPath(resolve(against))
  const top = (await git(workflowsDir, 'rev-parse', '--show-toplevel')).trim()
  const commit = (await git(top, 'rev-parse', '--verify', '--quiet', `${against}^{commit}`)).trim()
  const folder = mkdtempSync(join(tmpdir(), 'upshot-against-'))
  const tree = join(folder, 'tree')
  const remove = async () => {
    await git(top, 'worktree', 'remove', '--force', tree).catch(() => {})
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await git(top, 'worktree', 'add', '--detach', tree, commit)
    linkPackages(top, tree, workflowsDir)
    return {
      workflowsDir: join(tree, relative(top, workflowsDir)),
      [Symbol.asyncDispose]: remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

function openPath(path: string): OtherCode {
  if (!statSync(path).isDirectory()) return wrapModule(path)
  return { workflowsDir: path, [Symbol.asyncDispose]: async () => {} }
}

/** A working tree has no packages, so it gets those of the project. */
function linkPackages(top: string, tree: string, workflowsDir: string): void {
  for (let folder = workflowsDir; folder.startsWith(top); folder = dirname(folder)) {
    const packages = join(folder, 'node_modules')
    const link = join(tree, relative(top, packages))
    if (existsSync(packages) && existsSync(dirname(link)) && !existsSync(link)) symlinkSync(packages, link)
    if (folder === top) return
  }
}

/** Variables by which git tells its hooks of the repository, and of the commit at work. */
const OF_HOOKS = /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR)$/

/** In a hook, such as one before a commit, git would write its working tree into that commit. */
async function git(folder: string, ...args: string[]): Promise<string> {
  const env = Object.fromEntries(Object.entries(openEnvironment()).filter(([name]) => !OF_HOOKS.test(name)))
  // Nor do hooks of the project run, which may install or migrate something.
  const own = ['-C', folder, '-c', `core.hooksPath=${devNull}`]
  try {
    const { stdout } = await run('git', [...own, ...args], { env })
    return stdout
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
    const why = code === 'ENOENT' ? 'git is not installed' : (stderr.trim().split('\n').at(-1) ?? '')
    const what = args.includes('--verify') ? 'It is no commit, file or folder' : 'git cannot make its code'
    throw new UpshotError('invalid_request', `${what}${why === '' ? '' : ` (${why})`}.`, {
      details: { fix: 'Name a commit such as "main", a module or a folder of modules with --against.' },
    })
  }
}

/** Makes such a folder of a module, whatever its name. Its own imports stay as they are. */
function wrapModule(path: string): OtherCode {
  const folder = mkdtempSync(join(tmpdir(), 'upshot-module-'))
  writeFileSync(
    join(folder, 'module.workflow.js'),
    `export { default } from ${JSON.stringify(pathToFileURL(path).href)}\n`,
  )
  return {
    workflowsDir: folder,
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  }
}
