import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import type { CommandTree } from '../../../src/cli/command.ts'
import { COMMAND_TREE } from '../../../src/cli/commands/command-tree.ts'
import { runCommandLine } from '../../../src/cli/run-command-line.ts'
import { tempFolder } from '../../support/temp-folder.ts'

// Each starts processes, which take their time where the machine is busy.
vi.setConfig({ testTimeout: 120_000 })

/** What these need to do their work, or to refuse it, without a running app. */
const ARGUMENTS: Record<string, string[]> = {
  init: ['--dry-run', '/nowhere/project'],
  trigger: ['file.created'],
  completion: ['fish'],
  'endpoints add': ['shop'],
  'runs show': ['run_none'],
  'files ls': ['storage_a:/'],
  'files get': ['storage_a:/a.txt'],
  'files rm': ['storage_a:/a.txt', '--yes'],
  'files url': ['storage_a:/a.txt'],
  'db backup': ['/nowhere/backup.db'],
}

/**
 * These go on until they are stopped, so they are given what they refuse. Their own tests run them.
 */
const ENDLESS = /^(dev|demo|sandbox start|(runs|events) tail)$/

function pathsOf(tree: CommandTree): string[][] {
  return Object.entries(tree).flatMap(([name, node]) =>
    'commands' in node ? pathsOf(node.commands).map((path) => [name, ...path]) : [[name]],
  )
}

async function run(args: readonly string[]) {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() }
  const written = Promise.all([text(streams.stdout), text(streams.stderr)])
  const exit = await runCommandLine(args, streams)
  streams.stdout.end()
  streams.stderr.end()
  const [stdout, stderr] = await written
  return { exit, stdout, stderr }
}

test.each(pathsOf(COMMAND_TREE).map((path) => ({ command: path.join(' ') })))(
  '"$command" prints one JSON document under --json, and lines of JSON under --ndjson',
  async ({ command }) => {
    Object.assign(process.env, {
      ...{ UPSHOT_DATA_DIR: tempFolder(), UPSHOT_PORT: '0', UPSHOT_ADMIN_PORT: '0' },
      ...{ UPSHOT_SANDBOX_PORT: '0', UPSHOT_SANDBOX_DOWNLOAD_PORT: '0' },
    })
    const args = ENDLESS.test(command) ? ['--nonsense'] : (ARGUMENTS[command] ?? [])
    const { exit, stdout, stderr } = await run([...command.split(' '), ...args, '--json'])
    const document = JSON.parse(stdout)
    expect(stdout.trimEnd().split('\n')).toHaveLength(1)
    expect(document).toMatchObject(
      document.ok
        ? { ok: true, data: expect.anything() }
        : { error: { code: expect.any(String), fix: expect.any(String) } },
    )
    expect(stderr).toBe('')
    // 7 is a result that says itself what is wrong.
    expect(document.ok ? [0, 7] : [1, 2, 3, 4, 5, 6, 130]).toContain(exit)

    const lines = (await run([...command.split(' '), ...args, '--ndjson'])).stdout.split('\n').slice(0, -1)
    for (const line of lines) JSON.parse(line)
  },
)
