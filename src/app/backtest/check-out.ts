import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { UpshotError } from '../../core/errors.ts'
import { type ChangedFile, readDiff } from './changed-lines.ts'
import { wrapModule } from './wrap-module.ts'

/** The code that a backtest compares with, as a folder of modules. */
export interface OtherCode extends AsyncDisposable {
  workflowsDir: string
  /** The lines in which the code that is tried differs. `module`: its file. */
  listChanged: (module: string) => Promise<ChangedFile[]>
}

const run = promisify(execFile)
const MAX_DIFF = 67_108_864

/**
 * Makes a folder of other code: a module, a folder, or a commit in a working tree of its own.
 * `workflowsDir` is that of the code that is tried.
 */
export async function checkOut(against: string, workflowsDir: string): Promise<OtherCode> {
  if (existsSync(against)) return openPath(resolve(against), workflowsDir)
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
      listChanged: () => listChangedSince(commit, top),
      [Symbol.asyncDispose]: remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Edited files, and new ones that are not in the index yet. */
async function listChangedSince(commit: string, top: string): Promise<ChangedFile[]> {
  const place = (path: string) => join(top, path)
  const others = await git(top, 'ls-files', '--others', '--exclude-standard', '-z')
  const added = await Promise.all(
    others
      .split('\0')
      .filter((name) => /\.[cm]?[jt]s$/.test(name))
      .map((name) => diff(top, ['--no-index', '/dev/null', name], place)),
  )
  return [...(await diff(top, [commit], place)), ...added.flat()]
}

function openPath(path: string, workflowsDir: string): OtherCode {
  const compare = (fresh: string) => diff('/', ['--no-index', path, fresh], (name) => resolve('/', name))
  if (statSync(path).isDirectory()) {
    const listChanged = () => compare(workflowsDir)
    return { workflowsDir: path, listChanged, [Symbol.asyncDispose]: async () => {} }
  }
  return { ...wrapModule(path), listChanged: (module) => compare(module) }
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

async function diff(folder: string, args: string[], resolvePath: (path: string) => string): Promise<ChangedFile[]> {
  const text = await git(folder, 'diff', '--unified=0', '--no-color', '--no-ext-diff', ...args)
  return readDiff(text, resolvePath)
}

/** Differences found are no error of `git diff --no-index`, though its exit code is 1. */
async function git(folder: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await run('git', ['-C', folder, ...args], { maxBuffer: MAX_DIFF })
    return stdout
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string }
    if (code === 1 && args.includes('--no-index')) return stdout
    const why = code === 'ENOENT' ? 'git is not installed' : (stderr.trim().split('\n').at(-1) ?? '')
    const what = args.includes('--verify') ? 'It is no commit, file or folder' : 'git cannot make its code'
    throw new UpshotError('invalid_request', `${what}${why === '' ? '' : ` (${why})`}.`, {
      details: { fix: 'Name a commit such as "main", a module or a folder of modules with --against.' },
    })
  }
}
