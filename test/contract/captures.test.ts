import { expect } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { CAPTURE_LIMITS, type Capture } from '../../src/core/incoming/delivery.ts'
import { planEndpoint, planPin } from '../../src/core/incoming/endpoint.ts'
import { SCHEME_PRESETS } from '../../src/core/incoming/signature.ts'
import { NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

const learning = (name: string) => ({ ...planEndpoint({ name }, NOW), status: 'learning' as const })

function capture(endpointId: string, body = 'a body', part: Partial<Capture> = {}): Capture {
  const id = newId('dlv', NOW)
  return { id, endpointId, receivedAt: NOW, headers: { 'x-signature': 'abc' }, body: Buffer.from(body), ...part }
}

describeStores((test, open) => {
  test('captures are listed unchanged, oldest first, for their endpoint only', async ({ store, reopen }) => {
    const [one, two] = [learning('one'), learning('two')]
    for (const endpoint of [one, two]) await store.addEndpoint(endpoint)
    const bytes = Buffer.from([0, 0xff, 0xfe, 10])
    const captures = [capture(one.id, '', { body: bytes }), capture(one.id, 'b')]
    for (const each of captures) expect(await store.saveCapture(each)).toBe(true)
    await store.saveCapture(capture(two.id))
    const listed = await (await reopen()).listCaptures(one.id)
    expect(listed.map((each) => ({ ...each, body: Buffer.from(each.body) }))).toEqual(captures)
    await store.dropCaptures(one.id)
    expect(await store.listCaptures(one.id)).toEqual([])
    expect(await store.listCaptures(two.id)).toHaveLength(1)
  })

  test('the newest captures of an endpoint are kept, up to a number and a size', async ({ store }) => {
    const endpoint = learning('main')
    await store.addEndpoint(endpoint)
    const many = Array.from({ length: CAPTURE_LIMITS.count + 5 }, () => capture(endpoint.id))
    for (const each of many) await store.saveCapture(each)
    expect((await store.listCaptures(endpoint.id)).map(({ id }) => id)).toEqual(many.slice(5).map(({ id }) => id))

    const large = Array.from({ length: 3 }, () => capture(endpoint.id, 'x'.repeat(CAPTURE_LIMITS.bytes / 2 - 100)))
    for (const each of large) await store.saveCapture(each)
    expect((await store.listCaptures(endpoint.id)).map(({ id }) => id)).toEqual(large.slice(1).map(({ id }) => id))

    expect(await store.saveCapture(capture(endpoint.id, 'x'.repeat(CAPTURE_LIMITS.bytes)))).toBe(false)
    expect(await store.listCaptures(endpoint.id)).toHaveLength(2)
  })

  test('captures of a clock that was ahead give way to those after it is set back', async ({ store }) => {
    const endpoint = learning('main')
    await store.addEndpoint(endpoint)
    for (let each = 0; each < CAPTURE_LIMITS.count; each++) {
      const receivedAt = NOW + 86_400_000
      await store.saveCapture(capture(endpoint.id, 'a', { id: newId('dlv', receivedAt), receivedAt }))
    }
    const present = [capture(endpoint.id), capture(endpoint.id)]
    for (const each of present) await store.saveCapture(each)
    const listed = (await store.listCaptures(endpoint.id)).map(({ id }) => id)
    expect(listed).toHaveLength(CAPTURE_LIMITS.count)
    expect(listed).toEqual(expect.arrayContaining(present.map(({ id }) => id)))
  })

  test('only a learning endpoint captures; the captures outlast its learning, unless it is disabled', async () => {
    const { store, reopen } = await open()
    const endpoint = learning('main')
    await store.addEndpoint(endpoint)
    await store.saveCapture(capture(endpoint.id))
    await (await reopen()).updateEndpoint(planPin(endpoint, SCHEME_PRESETS.base64))
    expect(await store.listCaptures(endpoint.id)).toHaveLength(1)
    expect(await store.findEndpoint(endpoint.path)).toMatchObject({ status: 'active', scheme: SCHEME_PRESETS.base64 })
    expect(await store.saveCapture(capture(endpoint.id))).toBe(false)
    expect(await store.saveCapture(capture('end_unknown'))).toBe(false)
    const pinned = await store.findEndpoint(endpoint.path)
    if (pinned) await store.updateEndpoint({ ...pinned, status: 'disabled' })
    expect(await store.listCaptures(endpoint.id)).toEqual([])
  })
})
