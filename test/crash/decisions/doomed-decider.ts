import { openPlace } from '../../support/open-place.ts'
import { doom } from '../doom.ts'
import { decideAll } from './decision-scenario.ts'

const [place = '', , at = '0'] = process.argv.slice(2)

const store = await openPlace(JSON.parse(place))
await decideAll(doom(store, 'answered', Number(at)))
await store.close()
