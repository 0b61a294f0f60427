export const rulesView = () => ({ open() {} });
