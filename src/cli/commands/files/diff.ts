import type { Command } from '@commander-js/extra-typings'
import { type ComparedEntry, compareFolders, type Standing } from '../../../core/service/compare-folders.ts'
import type { FileEntry } from '../../../core/service/file.ts'
import type { FilesClient, Snapshot } from '../../../files/index.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { describeIncomplete, openFiles, type Place, parsePlace } from './files-client.ts'

type Listed = Place & Snapshot

/**
 * `upshot files diff <one> <other>`: two folders by the paths below them. Exits with 7 on a
 * difference, and with 1 where none was found and something is unknown.
 */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<service:/path>', 'a folder, such as storage_a:/reports')
    .argument('<other service:/path>', 'the folder to compare it with, such as storage_b:/reports')
    .option('--content', 'read files of one size, and compare their SHA-256')
    .option('--all', 'show what is the same, too')
    .option('--limit <n>', 'maximum number of entries of each folder, 1 to 1000000', countUpTo(1_000_000), 50_000)
    .action(async (first, second, { content = false, all = false, limit }) => {
      const config = await project.load()
      const places = [parsePlace(first, config), parsePlace(second, config)] as const
      const signal = onInterrupt()
      await using files = await openFiles(config)
      const read = async (place: Place): Promise<Listed> => ({
        ...place,
        ...(await files.snapshot({ ...place, recursive: true }, { max: limit, signal })),
      })
      const [one, other] = await Promise.all([read(places[0]), read(places[1])])
      const listed = compareFolders(one, other)
      const compared = content ? await compareContents(files, listed, { out, signal }) : listed
      report(out, { one, other, compared }, all)
    })
}

/** Reads what seems the same; two files at once, so that a plan's rate is shared evenly. */
async function compareContents(
  files: FilesClient,
  listed: readonly ComparedEntry[],
  { out, signal }: { out: Output; signal: AbortSignal },
): Promise<ComparedEntry[]> {
  const total = listed.filter(isReadable).length
  using progress = showProgress(out, { title: 'Comparing', total, unit: 'count' })
  const compared: ComparedEntry[] = []
  let done = 0
  for (const pair of listed) {
    compared.push(isReadable(pair) ? await compareContent(files, pair, signal) : pair)
    if (isReadable(pair)) progress.set(++done)
  }
  return compared
}

function isReadable(pair: ComparedEntry): pair is ComparedEntry & { one: FileEntry; other: FileEntry } {
  return pair.standing === 'same' && pair.one?.type === 'file'
}

async function compareContent(
  files: FilesClient,
  pair: ComparedEntry & { one: FileEntry; other: FileEntry },
  signal: AbortSignal,
): Promise<ComparedEntry> {
  const [one, other] = await Promise.all([files.hash(pair.one, { signal }), files.hash(pair.other, { signal })])
  // A file that went meanwhile, or whose bytes may be those of an error page, proves nothing.
  if (one?.proof !== 'size' || other?.proof !== 'size') return { ...pair, standing: 'unknown' }
  return one.sha256 === other.sha256 ? pair : { ...pair, standing: 'differs', by: 'content' }
}

interface Comparison {
  one: Listed
  other: Listed
  compared: readonly ComparedEntry[]
}

function report(out: Output, { one, other, compared }: Comparison, all: boolean): void {
  const counts = countStandings(compared)
  const shown = compared.filter(({ standing }) => all || standing !== 'same')
  const result = { one: describeFolder(one), other: describeFolder(other), counts, items: shown.map(describePair) }
  out.result(result, () => [
    ...(shown.length === 0 ? [] : [...formatTable(shown, columns(one, other), out), '']),
    summarize(counts, one, other),
  ])
  for (const { service, path, reason } of [one, other])
    if (reason !== null) out.note(`${service}:${path}: ${describeIncomplete(reason)}`)
  if (counts.differs + counts.only_one + counts.only_other > 0) out.leaveWith('difference')
  else if (counts.unknown > 0 || !one.complete || !other.complete) out.leaveWith('unknown')
}

function countStandings(compared: readonly ComparedEntry[]): Record<Standing, number> {
  const counts = { same: 0, differs: 0, only_one: 0, only_other: 0, unknown: 0 }
  for (const { standing } of compared) counts[standing] += 1
  return counts
}

function describeFolder({ service, path, items, complete, reason }: Listed) {
  return { service, path, entries: items.length, complete, reason }
}

function describePair({ one, other, ...pair }: ComparedEntry) {
  return { ...pair, one: one && describeEntry(one), other: other && describeEntry(other) }
}

function describeEntry({ id, type, size, path, modifiedAt }: FileEntry) {
  return { id, type, size, path, modifiedAt }
}

const SIGNS: Record<Standing, string> = { same: '✓', differs: '✗', only_one: '‹', only_other: '›', unknown: '?' }

function columns(one: Place, other: Place): Column<ComparedEntry>[] {
  const [here, there] = nameSides(one, other)
  const words: Record<Standing, string> = {
    ...{ same: 'same', differs: 'differs', unknown: 'unknown' },
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
function nameSides(one: Place, other: Place): [string, string] {
  return one.service === other.service ? [one.path, other.path] : [one.service, other.service]
}

function isFolder({ one, other }: ComparedEntry): boolean {
  return (one ?? other)?.type === 'folder' && (other ?? one)?.type === 'folder'
}

function describeSize(entry: FileEntry | null): string | null {
  return entry?.type === 'folder' ? 'folder' : formatBytes(entry?.size ?? null)
}

function summarize(counts: Record<Standing, number>, one: Place, other: Place): string {
  const parts = [
    `${counts.same} same`,
    `${counts.differs} different`,
    `${counts.only_one} only in ${one.service}:${one.path}`,
    `${counts.only_other} only in ${other.service}:${other.path}`,
    ...(counts.unknown === 0 ? [] : [`${counts.unknown} unknown`]),
  ]
  return parts.join(', ')
}
