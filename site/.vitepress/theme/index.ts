import theme from 'vitepress/theme-without-fonts'
import '../../../style/tokens.css'
import './style.css'

export default theme
