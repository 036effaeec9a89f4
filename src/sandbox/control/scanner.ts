import { json, Router } from 'express'
import { z } from 'zod'

const order = z.object({ path: z.string(), callback: z.url({ protocol: /^https?$/ }) })

/** Time after which a verdict is sent, and between its tries. */
const DELAY_MS = 1_000
const TRIES = 10

/** A stand-in for a virus scanner: it takes an order, and answers later at the callback URL. */
export function scannerRouter(): Router {
  const router = Router()
  router.post('/', json(), (request, response) => {
    const { path, callback } = order.parse(request.body)
    setTimeout(() => void report(callback, { verdict: /eicar|virus/i.test(path) ? 'infected' : 'clean' }), DELAY_MS)
    response.status(202).json({ ordered: path })
  })
  return router
}

/** Tries again until the answer is taken, or refused for good. */
async function report(callback: string, verdict: object): Promise<void> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(callback, { method: 'POST', headers, body: JSON.stringify(verdict) }).catch(() => null)
    await answer?.body?.cancel()
    if (answer !== null && answer.status < 500) return
    await new Promise((done) => setTimeout(done, DELAY_MS).unref())
  }
}
