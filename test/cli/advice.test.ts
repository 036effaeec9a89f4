import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { type CommandTree, loadCommand } from '../../src/cli/command.ts'
import { COMMAND_TREE } from '../../src/cli/commands/command-tree.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { createOutput, readGlobalOptions } from '../../src/cli/terminal/output.ts'

const SOURCE = resolve(import.meta.dirname, '../../src')

/** Texts that begin like a command and are none: what is hashed, and words of a sentence. */
const OTHER = /^(approval 1|rows 1|seal 1|probe mark|doctor"}|d0ct0r|…|needs Node|x|\$\{|$)/

/** Values for `<placeholders>` and for the expressions of `${…}` that are no free text. */
const VALUES: Record<string, string> = {
  'storage:/path': 'storage_a:/x',
  'service:/path': 'storage_a:/x',
  from: 'storage_a:/x',
  to: 'storage_b:/x',
  words: 'files.list',
  storage: 'storage_a',
  service: 'storage_a',
  'posix.dirname(path)': '/x',
  'work.operation': 'retry',
  scheme: 'hex',
  seq: '1',
  count: '1',
  n: '1',
  // Of the page of events: ` --type …`, or nothing.
  type: '',
  // Of a stop: ` --workflow …`, or nothing.
  option: '',
  subject: '/x',
}

interface Advice {
  /** File and line. */
  at: string
  command: string
}

/** Every command that a message, help text or log line of our source names. */
function collectAdvice(): Advice[] {
  return globSync('**/*.{ts,tsx}', { cwd: SOURCE }).flatMap((file) => {
    const lines = readFileSync(join(SOURCE, file), 'utf8').split('\n')
    return lines.flatMap((line, index) =>
      /^\s*(\*|\/\/|\/\*\*)/.test(line)
        ? []
        : namedCommands(line).map((command) => ({ at: `${file}:${index + 1}`, command })),
    )
  })
}

/** Commands in quotes, those that end with their sentence or text, and those of alerts. */
function namedCommands(line: string): string[] {
  return fillExpressions(line).flatMap((text) => {
    const quoted = text.matchAll(/"upshot ([^"]*)"/g)
    const bare = text.matchAll(/(?:^|: |['`(])upshot ([a-z](?:[^'`"]|"[^"]*")*?)(?=[.;,)]?(?:['`]|$)|[.;)] )/g)
    const ofAlerts = text.matchAll(/\bcommand: ['`]([a-z][^'`]*)['`]/g)
    return [...quoted, ...bare, ...ofAlerts]
      .map(([, words]) => (words ?? '').replace(/^upshot /, ''))
      .filter((words) => !OTHER.test(words))
  })
}

/** The line once for each command that a choice in it gives, with a value for each expression. */
function fillExpressions(line: string): string[] {
  const [all, one, other] = /\$\{[^{}]*\? '([a-z]+)' : '([a-z]+)'\}/.exec(line) ?? []
  if (all !== undefined) return [one, other].flatMap((word) => fillExpressions(line.replace(all, word ?? '')))
  const filled = line.replace(/\$\{([^{}]*)\}/g, (_all, expression: string) =>
    // Words that may be missing are missing.
    /[?:] ''/.test(expression) ? '' : (VALUES[expression] ?? 'x'),
  )
  return filled === line ? [line] : fillExpressions(filled)
}

/** The arguments of a command line. */
function split(command: string): string[] {
  const words = command.match(/"[^"]*"|<[^>]*>|\S+/g) ?? []
  return words.map((word) =>
    /^<.*>$/.test(word)
      ? (VALUES[word.slice(1, -1)] ?? 'x')
      : word.replace(/^"(.*)"$/, (_all, inside) => (inside === '…' ? 'x' : inside)),
  )
}

/** The commands with their arguments and options, and without what they do. */
function withoutActions(tree: CommandTree): CommandTree {
  return Object.fromEntries(
    Object.entries(tree).map(([name, node]) => {
      if ('commands' in node) return [name, { ...node, commands: withoutActions(node.commands) }]
      const load = async () => {
        const define = await loadCommand(node)
        const defineOnly: typeof define = (command, cli) => {
          define(command, cli)
          command.action(() => {})
        }
        return { [node.as]: defineOnly }
      }
      return [name, { ...node, load }]
    }),
  )
}

const advice = collectAdvice()

test('the commands that messages name are found', () => {
  expect(advice.length).toBeGreaterThan(100)
})

test('every command that a message names is one that our command line takes as printed', async () => {
  const out = createOutput(readGlobalOptions(['--quiet']), process)
  const faults: string[] = []
  for (const { at, command } of advice) {
    const program = buildProgram(withoutActions(COMMAND_TREE), out, () => {})
    await program.parseAsync(split(command), { from: 'user' }).catch((error: Error) => {
      faults.push(`${at}  upshot ${command}: ${error.message}`)
    })
  }
  expect(faults).toEqual([])
})
