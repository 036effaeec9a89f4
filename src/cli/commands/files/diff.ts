import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/client/index.ts'
import type { Standing } from '../../../core/service/compare-folders.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { call } from '../../open/operations.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { showWork } from '../../terminal/progress.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { addAccount, describeIncomplete, parsePlace } from './targets.ts'

type Comparison = AnswerOf<'POST /files/diff'>
type Pair = Comparison['items'][number]
type Side = Comparison['one']

/**
 * `upshot files diff <one> <other>`: two folders by the paths below them. Exits with 7 on a
 * difference, and with 8 where none was found and something is unknown.
 */
export function define(command: Command, { out, project }: Cli): void {
  addAccount(command)
    .argument('<service:/path>', 'a folder, such as storage_a:/reports')
    .argument('<other service:/path>', 'the folder to compare it with, such as storage_b:/reports')
    .option('--content', 'read files of one size, and compare their SHA-256')
    .option('--all', 'show what is the same, too')
    .option('--limit <n>', 'maximum number of entries of each folder, 1 to 1000000', countUpTo(1_000_000), 50_000)
    .action((one, other, options) =>
      project.withOperations(
        async (operations) => {
          const body = { ...options, one: parsePlace(one), other: parsePlace(other) }
          using work = showWork(out, 'Comparing')
          report(out, await call(operations, 'POST /files/diff', { body }, work))
        },
        { mayCreate: true },
      ),
    )
}

function report(out: Output, found: Comparison): void {
  const { one, other, counts, items } = found
  out.result(found, () => [
    ...(items.length === 0 ? [] : [...formatTable(items, columns(one, other), out), '']),
    summarize(counts, one, other),
  ])
  for (const { service, path, reason } of [one, other])
    if (reason !== null) out.note(`${service}:${path}: ${describeIncomplete(reason)}`)
  if (counts.differs + counts.only_one + counts.only_other > 0) out.leaveWith('difference')
  else if (counts.unknown > 0 || !one.complete || !other.complete) out.leaveWith('unknown')
}

const SIGNS: Record<Standing, string> = { same: '✓', differs: '✗', only_one: '‹', only_other: '›', unknown: '?' }

function columns(one: Side, other: Side): Column<Pair>[] {
  const [here, there] = nameSides(one, other)
  const words: Record<Standing, string> = {
    same: 'same',
    differs: 'differs',
    unknown: 'unknown',
    only_one: `only in ${here}`,
    only_other: `only in ${there}`,
  }
  return [
    {
      title: 'STANDING',
      value: ({ standing, by }) => `${SIGNS[standing]} ${words[standing]}${by === null ? '' : ` by ${by}`}`,
      cut: 'never',
    },
    { title: here.toUpperCase(), value: (pair) => describeSize(pair.one), align: 'right' },
    { title: there.toUpperCase(), value: (pair) => describeSize(pair.other), align: 'right' },
    { title: 'PATH', value: (pair) => `${pair.path}${isFolder(pair) ? '/' : ''}`, cut: 'start' },
  ]
}

/** Storages, or the folders of one storage. */
function nameSides(one: Side, other: Side): [string, string] {
  return one.service === other.service ? [one.path, other.path] : [one.service, other.service]
}

function isFolder({ one, other }: Pair): boolean {
  return (one ?? other)?.type === 'folder' && (other ?? one)?.type === 'folder'
}

function describeSize(entry: Pair['one']): string | null {
  return entry?.type === 'folder' ? 'folder' : formatBytes(entry?.size ?? null)
}

function summarize(counts: Record<Standing, number>, one: Side, other: Side): string {
  const parts = [
    `${counts.same} same`,
    `${counts.differs} different`,
    `${counts.only_one} only in ${one.service}:${one.path}`,
    `${counts.only_other} only in ${other.service}:${other.path}`,
    ...(counts.unknown === 0 ? [] : [`${counts.unknown} unknown`]),
  ]
  return parts.join(', ')
}
