import type { FileCoverage } from '../play/start-coverage.ts'

/** Lines that an edit has added or changed, counted from 1. */
export interface ChangedFile {
  file: string
  lines: number[]
}

/** How many of the changed lines ran. */
export interface LineReport {
  changed: number
  ran: number
  /** The lines that no run reached, as `file:line`. */
  notReached: string[]
}

/** Reads the new side of `git diff --unified=0`. `resolve` makes a path of the diff absolute. */
export function readDiff(diff: string, resolve: (path: string) => string): ChangedFile[] {
  const files: ChangedFile[] = []
  for (const line of diff.split('\n')) {
    const name = /^\+\+\+ (?:"?b\/)?(.+?)"?\t?$/.exec(line)?.[1]
    if (name !== undefined) files.push({ file: resolve(name), lines: [] })
    const [, first, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    if (first === undefined) continue
    files.at(-1)?.lines.push(...Array.from({ length: Number(count) }, (_, index) => Number(first) + index))
  }
  return files
}

/**
 * Which changed lines of code ran. Blank lines and comments do not count, nor do files that were
 * not loaded. `read` gives the text of a file, `nameOf` its name in the report.
 */
export function reportLines(
  changed: readonly ChangedFile[],
  coverage: readonly FileCoverage[],
  { read, nameOf }: { read: (file: string) => string; nameOf: (file: string) => string },
): LineReport {
  const known = new Map(coverage.map((each) => [each.file, each]))
  const report: LineReport = { changed: 0, ran: 0, notReached: [] }
  for (const { file, lines } of changed) {
    const covered = known.get(file)
    if (covered === undefined) continue
    const text = read(file)
    for (const line of lines) {
      const offset = findCode(text, line)
      if (offset === null) continue
      report.changed += 1
      if (hasRun(covered, offset)) report.ran += 1
      else report.notReached.push(`${nameOf(file)}:${line}`)
    }
  }
  return report
}

/** The offset of the first sign of a line; null for one without code. */
function findCode(text: string, line: number): number | null {
  const lines = text.split('\n')
  const own = lines[line - 1] ?? ''
  const code = own.trim()
  if (code === '' || /^(\/\/|\/?\*|[)}\]]+[;,]?$)/.test(code)) return null
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0)
  return before + own.indexOf(code)
}

function hasRun({ ranges }: FileCoverage, offset: number): boolean {
  const holding = ranges.filter(({ from, to }) => from <= offset && offset < to)
  const [inner] = holding.sort((one, other) => one.to - one.from - (other.to - other.from))
  return inner?.hasRun ?? false
}
