import { statSync, truncateSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bench, Suite } from '../bench.ts'
import { runToEnd, type Target } from '../child.ts'
import { type Goal, judge, type Result } from '../result.ts'
import { inTurn, measureRounds } from '../rounds.ts'
import type { Hosted } from '../targets/file-host.ts'

const MIB = 2 ** 20

const GOALS = {
  vsCurl: { atLeast: 0.8 },
  resumedVsCurl: { atLeast: 0.8 },
  retriedVsCurl: { atLeast: 0.8 },
  extraRssMiB: { atMost: 64 },
} as const satisfies Record<string, Goal>

const RIVALS = ['curl', 'client'] as const
type Rival = (typeof RIVALS)[number]

/** How fast a large file comes down, whole and resumed, against curl, which hashes nothing and syncs nothing. */
export const download: Suite = {
  names: [
    'download.vsCurl',
    'download.resumedVsCurl',
    'download.retriedVsCurl',
    'download.extraRssMiB',
    'download.mibPerSecond',
  ],
  run: runDownload,
}

async function runDownload(bench: Bench): Promise<Result[]> {
  const bytes = (bench.isQuick ? 256 : 2_048) * MIB
  await using host = bench.startTarget('file-host.ts')
  const hosted = await host.call<Hosted>('start', { folder: bench.folder, bytes })
  const paths = { curl: join(bench.folder, 'by-curl'), client: join(bench.folder, 'by-client') }
  const extraRssMiB = await measureMemory(bench, hosted, paths.client)
  await using client = bench.startTarget('downloader.ts')
  await client.call('start', hosted)
  const contest = { bench, bytes, host, client, paths }
  const rounds = bench.isQuick ? { least: 5, most: 7 } : { least: 5, most: 9 }
  const { vsCurl, resumedVsCurl, retriedVsCurl } = GOALS
  const figures = await measureRounds(rounds, { vsCurl, resumedVsCurl, retriedVsCurl }, (round) =>
    measureRound(contest, round),
  )
  await host.call('stop')
  return [
    judge('download.vsCurl', figures.vsCurl, 'ratio', GOALS.vsCurl),
    judge('download.resumedVsCurl', figures.resumedVsCurl, 'ratio', GOALS.resumedVsCurl),
    judge('download.retriedVsCurl', figures.retriedVsCurl, 'ratio', GOALS.retriedVsCurl),
    judge('download.extraRssMiB', extraRssMiB, 'MiB', GOALS.extraRssMiB),
    judge('download.mibPerSecond', figures.mibPerSecond, 'MiB/s'),
  ]
}

/** In a process of its own, because the most that a process ever had is all that it knows. */
async function measureMemory(bench: Bench, hosted: Hosted, to: string): Promise<number> {
  await using client = bench.startTarget('downloader.ts')
  await client.call('start', hosted)
  const { nowMiB } = await client.call<Memory>('memory')
  await client.call('download', { to })
  await client.call('halve', { to })
  await client.call('download', { to })
  return (await client.call<Memory>('memory')).mostMiB - nowMiB
}

interface Memory {
  nowMiB: number
  mostMiB: number
}

interface Contest {
  bench: Bench
  bytes: number
  host: Target
  client: Target
  paths: Record<Rival, string>
}

async function measureRound(contest: Contest, round: number) {
  const { bench, bytes, client, paths } = contest
  await bench.patience.waitForCalm()
  for (const path of Object.values(paths)) await rm(path, { force: true })
  const whole = await race(contest, round)
  // What a process that died has left: its bytes have to be read again for the hash of the whole.
  truncateSync(paths.curl, Math.floor(bytes / 2))
  await client.call('halve', { to: paths.client })
  const resumed = await race(contest, round)
  // What the process itself has left, as before a retry: it knows their hash.
  truncateSync(paths.curl, await client.call<number>('interrupt', { to: paths.client }))
  const retried = await race(contest, round)
  const rate = (ms: number, of: number) => of / MIB / (ms / 1_000)
  bench.say(
    `  whole ${rate(whole.client, bytes).toFixed(0)} MiB/s, curl ${rate(whole.curl, bytes).toFixed(0)} MiB/s; ` +
      `second half in ${resumed.client.toFixed(0)} ms, curl ${resumed.curl.toFixed(0)} ms; ` +
      `after a break ${retried.client.toFixed(0)} ms, curl ${retried.curl.toFixed(0)} ms`,
  )
  return {
    vsCurl: whole.curl / whole.client,
    resumedVsCurl: resumed.curl / resumed.client,
    retriedVsCurl: retried.curl / retried.client,
    mibPerSecond: rate(whole.client, bytes),
  }
}

/** Milliseconds that each takes for what is missing of its file, one after the other. */
async function race({ bytes, host, client, paths }: Contest, round: number): Promise<Record<Rival, number>> {
  const times: Record<Rival, number> = { curl: 0, client: 0 }
  for (const rival of inTurn(RIVALS, round)) {
    times[rival] =
      rival === 'curl'
        ? await runCurl(await host.call<string>('url'), paths.curl)
        : (await client.call<{ ms: number }>('download', { to: paths.client })).ms
    if (statSync(paths[rival]).size !== bytes) throw new Error(`${rival} did not bring the whole file`)
  }
  return times
}

/** By its own watch, so that the start of its process is not held against it. */
async function runCurl(url: string, to: string): Promise<number> {
  const options = ['--silent', '--show-error', '--fail', '--continue-at', '-', '--write-out', '%{time_total}']
  return Number(await runToEnd('curl', [...options, '--output', to, url], 300)) * 1_000
}
