import { openPlace } from '../../support/open-place.ts'
import { doom } from '../doom.ts'
import { endAll } from './withdrawal-scenario.ts'

const [place = '', held = '{}', at = '0'] = process.argv.slice(2)

const store = await openPlace(JSON.parse(place))
await endAll(doom(store, 'answered', Number(at)), JSON.parse(held))
await store.close()
