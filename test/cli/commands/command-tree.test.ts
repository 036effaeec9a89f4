import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { CommandTree } from '../../../src/cli/command.ts'
import { COMMAND_TREE } from '../../../src/cli/commands/command-tree.ts'
import { runCommandLine } from '../../../src/cli/run-command-line.ts'

function pathsOf(tree: CommandTree): string[][] {
  return Object.entries(tree).flatMap(([name, node]) =>
    'commands' in node ? pathsOf(node.commands).map((path) => [name, ...path]) : [[name]],
  )
}

async function run(args: readonly string[]) {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() }
  const exit = await runCommandLine(args, streams)
  streams.stdout.end()
  streams.stderr.end()
  return { exit, stdout: await text(streams.stdout), stderr: await text(streams.stderr) }
}

test.each(pathsOf(COMMAND_TREE).map((path) => ({ command: path.join(' ') })))(
  '"$command" prints its help and its usage errors as one JSON document',
  async ({ command }) => {
    const path = command.split(' ')
    const help = await run([...path, '--help', '--json'])
    expect(help).toMatchObject({ exit: 0, stderr: '' })
    expect(JSON.parse(help.stdout)).toMatchObject({
      ok: true,
      data: { text: expect.stringContaining(`Usage: upshot ${command}`) },
    })
    const wrong = await run([...path, '--nonsense', '--json'])
    expect(wrong).toMatchObject({ exit: 2, stderr: '' })
    expect(JSON.parse(wrong.stdout)).toMatchObject({ ok: false, error: { code: 'usage' } })
  },
)

test('prints the version alone on stdout', async () => {
  expect(await run(['--version'])).toEqual({ exit: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' })
})

test('shows the commands of a group on stderr when none of them is named', async () => {
  const { exit, stdout, stderr } = await run(['endpoints'])
  expect([exit, stdout]).toEqual([2, ''])
  expect(stderr).toContain('create an endpoint')
})
