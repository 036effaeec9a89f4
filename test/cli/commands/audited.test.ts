import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { expect, expectTypeOf, test } from 'vitest'
import type { HandlerStore } from '../../../src/admin/resources/parts.ts'
import type { CommandTree } from '../../../src/cli/command.ts'
import { COMMAND_TREE } from '../../../src/cli/commands/command-tree.ts'
import type { PersonStore } from '../../../src/cli/open/operations.ts'
import { OPERATOR_WRITES, type OperatorWrites } from '../../../src/core/store/operator-writes.ts'
import type { StoreWrites } from '../../../src/core/store/store.ts'

const COMMANDS = resolve(import.meta.dirname, '../../../src/cli/commands')

const ROOT = resolve(COMMANDS, '../../..')

/** A call that changes something outside the store: a file, the sandbox, or an endpoint. */
const OUTSIDE =
  /\bmethod: '(POST|PUT|PATCH|DELETE)'|\b(deliver|sendEvent|tryEndpoint)\(|\bsandbox\.(post|put|patch|delete)\(/
/** A row of its own, or that of the write which it follows. */
const NOTES = new RegExp(`\\bproject\\.recordAction\\(|\\bstore\\.(${Object.keys(OPERATOR_WRITES).join('|')})\\(`)

/** Commands that change nothing of the project: a probe, folders of their own, a foreign URL. */
const ELSEWHERE = ['doctor', 'dev', 'endpoints send', 'rehearse']

/** The file of every command, as the tree imports it. */
function filesOf(tree: CommandTree, path: string[] = []): { command: string; file: string }[] {
  return Object.entries(tree).flatMap(([name, node]) => {
    if ('commands' in node) return filesOf(node.commands, [...path, name])
    const [, file = ''] = /["'`]([^"'`]+\.ts)["'`]/.exec(String(node.load)) ?? []
    return [{ command: [...path, name].join(' '), file: resolve(ROOT, file.slice(1)) }]
  })
}

/** The source of a command, with everything of the command line that it imports. */
function readSource(file: string, seen = new Set<string>()): string {
  if (seen.has(file)) return ''
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  const imports = [...text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)]
  const paths = imports.map(([, path]) => resolve(dirname(file), String(path)))
  // An operation of the admin API notes what it does, whoever asks for it.
  const own = paths.filter((path) => /src\/cli\/(commands|send|open)\/(?!local-operations)/.test(path))
  return [text, ...own.map((path) => readSource(path, seen))].join('\n')
}

test('every command that changes something outside the store notes it in the audit log', () => {
  const commands = filesOf(COMMAND_TREE).map(({ command, file }) => ({ command, source: readSource(file) }))
  const outside = commands.filter(({ source }) => OUTSIDE.test(source))
  expect(outside.length).toBeGreaterThan(10)
  const silent = outside.filter(({ source }) => !NOTES.test(source)).map(({ command }) => command)
  expect(silent.filter((command) => !ELSEWHERE.includes(command))).toEqual([])
})

test('the store of a command or a route has no write without an audit row, but those that carry on one', () => {
  type Silent<Given> = Exclude<keyof StoreWrites & keyof Given, keyof OperatorWrites>
  expectTypeOf<Silent<PersonStore>>().toEqualTypeOf<
    'holdRuns' | 'releaseHeldRuns' | 'prune' | 'pruneWeek' | 'sealEffects'
  >()
  type OfRoutes = 'operate' | 'recordAction' | 'carryOutDecision'
  expectTypeOf<Silent<HandlerStore>>().toEqualTypeOf<'holdRuns' | 'releaseHeldRuns' | OfRoutes>()
})
