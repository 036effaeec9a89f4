import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, renameSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { UpshotError } from '../../../core/errors.ts'
import { isPlainObject } from '../../../core/json.ts'
import type { Starts } from '../../../core/safety/differences/difference.ts'
import type { CasePage } from '../read-cases.ts'
import type { CorpusCase } from './redact-case.ts'

/** The first line of a corpus. */
interface CorpusHead {
  /** The version of the form of its lines. */
  corpus: number
  workflow: string
  /** Hash of the code that was there when it was saved. */
  codeHash: string
  /** The causes of its runs. */
  starts: Starts
  /** Epoch milliseconds. */
  savedAt: number
  runs: number
}

export const CORPUS_VERSION = 2
const PAGE = 64

/** Writes gzipped lines: the head, each case, and the SHA-256 of all before. Returns that hash. */
export async function writeCorpus(file: string, head: CorpusHead, cases: readonly CorpusCase[]): Promise<string> {
  const hash = createHash('sha256')
  const lines = function* () {
    for (const each of [head, ...cases]) {
      const line = `${JSON.stringify(each)}\n`
      hash.update(line)
      yield line
    }
    yield `${JSON.stringify({ sha256: hash.copy().digest('hex') })}\n`
  }
  const part = `${file}.part`
  try {
    await pipeline(Readable.from(lines()), createGzip(), createWriteStream(part))
    renameSync(part, file)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
  return hash.digest('hex')
}

/** The head of a whole and unchanged corpus; throws `invalid_request` for any other file. */
export async function readCorpusHead(file: string): Promise<CorpusHead> {
  const hash = createHash('sha256')
  let head: CorpusHead | null = null
  let cases = 0
  let end: string | null = null
  for await (const line of readLines(file)) {
    if (end !== null) throw damaged(file, 'it goes on behind its end')
    head ??= parseHead(file, line)
    if (line.startsWith('{"sha256":')) {
      end = line
      continue
    }
    hash.update(`${line}\n`)
    cases += 1
  }
  if (head === null || end === null) throw damaged(file, 'its end is missing')
  const isWhole = end === JSON.stringify({ sha256: hash.digest('hex') }) && cases === head.runs + 1
  if (!isWhole) throw damaged(file, 'its lines do not fit its hash')
  return head
}

/** The cases of a corpus in pages, for a backtest. Call {@link readCorpusHead} first. */
export async function* readCorpus(file: string): AsyncGenerator<CasePage> {
  const cases: CorpusCase[] = []
  const page = () => ({ cases: cases.splice(0), noBody: 0, notStarted: 0, unfinished: [] })
  for await (const line of readLines(file)) {
    if (!line.startsWith('{"run":')) continue
    cases.push(JSON.parse(line))
    if (cases.length === PAGE) yield page()
  }
  if (cases.length > 0) yield page()
}

function parseHead(file: string, line: string): CorpusHead {
  const head: unknown = parse(line)
  if (!isPlainObject(head) || typeof head.corpus !== 'number') throw damaged(file, 'it does not begin as one')
  if (head.corpus === CORPUS_VERSION) return head as unknown as CorpusHead
  throw new UpshotError('invalid_request', `${file} has version ${head.corpus} of a corpus, which is not known here.`, {
    details: { fix: 'Save it anew with this version: "upshot backtest <workflow> --save <file>".' },
  })
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

async function* readLines(file: string): AsyncGenerator<string> {
  const packed = createReadStream(file)
  const unpacked = createGunzip().setEncoding('utf8')
  packed.on('error', (error) => unpacked.destroy(error)).pipe(unpacked)
  let rest = ''
  try {
    for await (const text of unpacked) {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    throw damaged(file, error instanceof Error ? error.message : 'it cannot be read')
  } finally {
    packed.destroy()
  }
  if (rest !== '') yield rest
}

function damaged(file: string, why: string): UpshotError {
  return new UpshotError('invalid_request', `${file} is no whole corpus: ${why}.`, {
    details: { fix: 'Name a file of "upshot backtest <workflow> --save <file>", or save it anew.' },
  })
}
