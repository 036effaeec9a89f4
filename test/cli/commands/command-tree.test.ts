import { expect, test } from 'vitest'
import type { CommandTree } from '../../../src/cli/command.ts'
import { COMMAND_TREE } from '../../../src/cli/commands/command-tree.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { runHere } from '../support/run-here.ts'

function pathsOf(tree: CommandTree): string[][] {
  return Object.entries(tree).flatMap(([name, node]) =>
    'commands' in node ? pathsOf(node.commands).map((path) => [name, ...path]) : [[name]],
  )
}

const run = (args: readonly string[]) => runHere(tempFolder(), args)

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

test('--version prints only the version, on stdout', async () => {
  expect(await run(['--version'])).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    stderr: '',
  })
})

test('a group without a command prints its commands on stderr and exits with 2', async () => {
  const { exit, stdout, stderr } = await run(['endpoints'])
  expect([exit, stdout]).toEqual([2, ''])
  expect(stderr).toContain('create an endpoint')
})
