import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { ID_BYTES, renderBody } from '../deliveries.ts'
import { median } from './result.ts'

/** Facts about the machine that the figures depend on. */
export interface Machine {
  cpu: string
  cores: number
  memoryGb: number
  system: string
  node: string
  sqlite: string
  /** Median time of a 4 KB write with fsync on the disk of the databases. */
  fsyncMs: number
  /** Load average of the minute before the run. Above 0.5 other work distorts the figures. */
  loadBefore: number
  /** Delivery bodies that one core parses per millisecond; virtual cores vary by the hour. */
  bodiesPerMs: number
  loadGenerator: string
}

export function measureMachine(folder: string, loadGenerator: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    sqlite: readSqliteVersion(),
    fsyncMs: Number(measureFsync(folder).toPrecision(3)),
    loadBefore: loadavg()[0] ?? 0,
    bodiesPerMs: measureSpeed(),
    loadGenerator,
  }
}

/** Measures {@link Machine.bodiesPerMs} for half a second. */
export function measureSpeed(): number {
  const body = renderBody('0'.repeat(ID_BYTES))
  const slices = Array.from({ length: 25 }, () => {
    const begunAt = performance.now()
    let parsed = 0
    for (; performance.now() < begunAt + 20; parsed++) JSON.parse(body)
    return parsed / (performance.now() - begunAt)
  })
  return Math.round(median(slices))
}

function readSqliteVersion(): string {
  const db = new Database(':memory:')
  const version = db.prepare<[], string>('SELECT sqlite_version()').pluck().get()
  db.close()
  return version ?? 'unknown'
}

function measureFsync(folder: string): number {
  const file = join(folder, 'fsync')
  const descriptor = openSync(file, 'w')
  const page = Buffer.alloc(4_096, 1)
  const times = Array.from({ length: 200 }, () => {
    const begunAt = performance.now()
    writeSync(descriptor, page)
    fsyncSync(descriptor)
    return performance.now() - begunAt
  })
  closeSync(descriptor)
  rmSync(file)
  return median(times)
}
