import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { currentSecret, planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { SCHEME_PRESETS } from '../../src/core/incoming/signature.ts'
import { postDelivery } from './post-delivery.ts'
import type { startTestApp } from './test-app.ts'

/** Leaves so many bytes of a disk free. The result has to go for it to have room again. */
export function fillDisk(disk: string, bytes: number): string {
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(bytes))
  return ballast
}

/** Sends deliveries of any size to an endpoint of its own, and asks whether the app is ready. */
export async function openLargeDeliveries({
  app,
  urls,
}: Pick<Awaited<ReturnType<typeof startTestApp>>, 'app' | 'urls'>) {
  const endpoint = planEndpoint({ name: 'main', scheme: SCHEME_PRESETS.hex }, 0)
  await app.store.addEndpoint(endpoint)
  let sent = 0
  const deliver = async (bytes: number): Promise<number> => {
    const note = randomBytes(Math.ceil((bytes * 3) / 4)).toString('base64')
    const url = `${urls.receiver}/hooks/${endpoint.path}`
    return (await postDelivery(url, currentSecret(endpoint), `evt_${++sent}`, { note })).status
  }
  return {
    deliver,
    /** Sends large ones until one is refused; its status. */
    async deliverUntilRefused(bytes: number): Promise<number> {
      let status = 200
      for (let n = 0; n < 100 && status === 200; n++) status = await deliver(bytes)
      return status
    },
    async readiness() {
      const answer = await fetch(`${urls.admin}/readyz`)
      return { status: answer.status, ...((await answer.json()) as { checks: Record<string, string> }) }
    },
  }
}
