import theme from 'vitepress/theme-without-fonts'
import '../../../src/dashboard/style/tokens.css'
import './style.css'

export default theme
