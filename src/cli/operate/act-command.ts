import type { Command, OptionValues } from '@commander-js/extra-typings'
import type { AnswerOf, InputOf, RouteName } from '../../admin/contract/routes.ts'
import { refuse } from '../../core/errors.ts'
import type { Cli } from '../command.ts'
import { call, type Operations } from '../open/operations.ts'
import { confirm } from '../terminal/confirm.ts'
import type { Output } from '../terminal/output.ts'
import type { EXIT } from '../terminal/problem.ts'
import { showWork } from '../terminal/progress.ts'

/** The answer of `look`; null without one. */
type Found<Look extends RouteName> = [Look] extends [never] ? null : AnswerOf<Look>

export interface ActWords<Name extends RouteName, Look extends RouteName, Options extends OptionValues> {
  /** The argument: its name in the path, and its help. Left out: there is none. */
  argument?: readonly [name: string, help: string]
  /** Printed below its options. */
  help?: string
  /** Reads what the action is about. It throws where that is not there, under `--dry-run` too. */
  look?: Look
  options?: (command: Command) => Command<[], Options>
  query?: (options: Options, named: string) => object
  body?: (options: Options, named: string, about: { found: Found<Look>; out: Output }) => unknown
  /** The action in words, such as `pause the workflow a`; a question has none. */
  will?: (named: string, found: Found<Look>, options: Options) => string
  /** Told where `--reason` is missing. */
  needsReason?: string
  /** Its consequences, for the person who is asked. Left out: nobody is asked. */
  asks?: (found: Found<Look>) => readonly string[]
  /** Whether the operation itself tells what it would do: under `--dry-run` it is asked to. */
  tries?: true
  /** Whether it may make the database. */
  mayCreate?: true
  /** The title of its bar where it takes long; Ctrl-C then ends it in order. */
  isSlow?: string
  /** The result as JSON; default: the answer, and of a `DELETE` that it is removed. */
  data?: (answer: AnswerOf<Name>, named: string, found: Found<Look>) => unknown
  done: (
    answer: AnswerOf<Name>,
    named: string,
    about: { found: Found<Look>; out: Output; options: Options },
  ) => string | readonly string[]
  note?: (answer: AnswerOf<Name>, named: string, found: Found<Look>) => string | null
  /** The way to leave where the answer tells that something is wrong. */
  leave?: (answer: AnswerOf<Name>) => keyof typeof EXIT | null
}

/**
 * A command of one operation, on one named row where it has an argument. It shows something, or
 * does one thing: with `asks` after a question.
 */
export function actCommand<
  Name extends RouteName,
  Look extends RouteName = never,
  Options extends OptionValues = Record<never, never>,
>(name: Name, words: ActWords<Name, Look, Options>) {
  return function define(command: Command, cli: Cli): void {
    words.options?.(command)
    if (words.help) command.addHelpText('after', `\n${words.help}`)
    if (words.argument === undefined) {
      command.action((options) => act(cli, name, words, { named: '', options }))
      return
    }
    const [argument, help] = words.argument
    command.argument(`<${argument}>`, help).action((named, options) => act(cli, name, words, { named, options }))
  }
}

/** Performs the operation, unless a person says no or only wants to know. */
export function act<Name extends RouteName, Look extends RouteName, Options extends OptionValues>(
  { out, project }: Cli,
  name: Name,
  words: ActWords<Name, Look, Options>,
  { named, options: given }: { named: string; options: object },
): Promise<void> {
  const options = given as Options
  const { dryRun } = out.given
  const mayCreate = words.mayCreate === true && !dryRun
  return project.withOperations(
    async (operations) => {
      const params: Record<string, string> = words.argument === undefined ? {} : { [words.argument[0]]: named }
      const found = (words.look === undefined ? null : await look(operations, words.look, params)) as Found<Look>
      const isTried = dryRun && words.tries === true
      if (isTried) out.note('Dry run: nothing was saved. This is what would be saved.')
      else if (words.will && (words.asks || dryRun)) {
        const will = words.will(named, found, options)
        if (!(await confirm(out, { will, things: words.asks?.(found) ?? [] }))) return refrain(out, will)
      }
      if (words.needsReason && project.operator.reason === null) throw refuse(words.needsReason, 'Add --reason "…".')
      const asked = await words.body?.(options, named, { found, out })
      const body = isTried ? { ...(asked as object), isDryRun: true } : asked
      const input = { params, query: words.query?.(options, named), body }
      using work = words.isSlow === undefined ? null : showWork(out, words.isSlow)
      const answer = await call(operations, name, input as unknown as InputOf<Name>, work ?? {})
      report(out, words, answer, { named, params, found, options })
    },
    { mayCreate },
  )
}

function report<Name extends RouteName, Look extends RouteName, Options extends OptionValues>(
  out: Output,
  words: ActWords<Name, Look, Options>,
  answer: AnswerOf<Name>,
  { named, params, found, options }: { named: string; params: object; found: Found<Look>; options: Options },
): void {
  const lines = words.done(answer, named, { found, out, options })
  const data = words.data ? words.data(answer, named, found) : (answer ?? { ...params, removed: true })
  out.result(data, () => (typeof lines === 'string' ? [lines] : lines))
  const note = words.note?.(answer, named, found)
  if (note) out.note(note)
  const exit = words.leave?.(answer)
  if (exit) out.leaveWith(exit)
}

function look<Look extends RouteName>(operations: Operations, name: Look, params: Record<string, string>) {
  return call(operations, name, { params } as unknown as InputOf<Look>)
}

/** Under `--dry-run`: says what would be done, and to what, and returns true. */
export async function isDryRun(out: Output, intent: { will: string; things?: readonly string[] }): Promise<boolean> {
  if (!out.given.dryRun) return false
  await confirm(out, intent)
  refrain(out, intent.will)
  return true
}

export function refrain(out: Output, will: string): void {
  out.result({ dryRun: true, will }, () => [`This would ${will}.`])
}
