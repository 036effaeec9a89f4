import { openPlace } from '../../support/open-place.ts'
import { doom } from '../doom.ts'
import { workAll } from './list-scenario.ts'

const [place = '', leases = '[]', at = '0'] = process.argv.slice(2)

const store = await openPlace(JSON.parse(place))
await workAll(doom(store, 'answered', Number(at)), JSON.parse(leases))
await store.close()
