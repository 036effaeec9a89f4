import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

// Starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const ROOT = join(import.meta.dirname, '../..')

/** Our own files that every command may load: the parser, the command tree, errors. */
const LIGHT = new RegExp(
  [
    /^src\/cli\/([\w-]+|(terminal|input|open)\/[\w-]+|commands\/(command-tree|\w+\/commands))\.[jt]s$/,
    /^src\/core\/(errors|time)\.ts$/,
    /^src\/notices\/log\/fit-text\.ts$/,
    /^src\/project\/(read-version|read-user|process-setup|config\/environment)\.[jt]s$/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

/** Paths of the modules that a command has loaded, from the root of the repository. */
function modulesOf(args: string[]): string[] {
  const preload = join(import.meta.dirname, 'support/list-modules.ts')
  const { stderr, status } = spawnSync(
    process.execPath,
    ['--import', preload, join(ROOT, 'src/cli/main.js'), ...args],
    { cwd: ROOT, encoding: 'utf8' },
  )
  expect(status).toBe(0)
  const paths = stderr.split('\n').filter((url) => url.startsWith('file:'))
  return paths.map((url) => decodeURIComponent(new URL(url).pathname).slice(ROOT.length + 1))
}

test.each([[['--version']], [['--help']], [['runs', '--help']]])(
  '%j loads the parser and no module that does work',
  (args) => {
    const modules = modulesOf(args)
    expect(modules).toContain('src/cli/program.ts')
    const packages = modules.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])
    expect([...new Set(packages)].sort()).toEqual(['@commander-js/extra-typings', 'commander'])
    const ours = modules.filter((path) => path.startsWith('src/'))
    expect(ours.filter((path) => !LIGHT.test(path))).toEqual([])
    // Each file costs time to find, read and strip of its types.
    expect(modules.length).toBeLessThan(36)
  },
)

test('a command loads its own file and no other command', () => {
  const commands = modulesOf(['version']).filter((path) => path.startsWith('src/cli/commands/'))
  expect(commands.filter((path) => !LIGHT.test(path))).toEqual(['src/cli/commands/shell/version.ts'])
})
