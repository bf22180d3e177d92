/** Holds the answers to the examples; `npx vitest run test/service/api-examples.test.ts -u` writes them. */
export const ANSWERS: Readonly<Record<string, string>> = {
  "get /api/datasets":
    '{"version":"...","namespace":"http://turbulence.pha.jhu.edu/","service":"service/turbulence.asmx","points":2000000,"jobs":false,"datasets":[{"name":"isotropic32","title":"Forced isotropic turbulence, 32^3, 15 snapshots","aliases":["iso32"],"nodes":[32,32,32],"times":{"count":12,"first":0,"last":2.2},"fields":["velocity","pressure"]}]}',
  "get /api/datasets/{name}":
    '{"name":"isotropic32","title":"Forced isotropic turbulence, 32^3, 15 snapshots","aliases":["iso32"],"digest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","axes":[{"name":"x","nodes":32,"first":0,"last":6.086835766330224,"length":6.283185307179586,"spacing":0.19634954084936207,"periodic":true},{"name":"y","nodes":32,"first":0,"last":6.086835766330224,"length":6.283185307179586,"spacing":0.19634954084936207,"periodic":true},{"name":"z","nodes":32,"first":0,"last":6.086835766330224,"length":6.283185307179586,"spacing":0.19634954084936207,"periodic":true}],"times":{"count":12 ...',
  "post /api/datasets/{name}/GetVelocity":
    '{"version":"...","operation":"GetVelocity","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"Lag4","temporalInterpolation":"PCHIP"},"components":["x","y","z"],"shape":[1,3],"values":[[-0.13604717,0.040882856,0.26861674]]}',
  "post /api/datasets/{name}/GetForce":
    '{"version":"...","operation":"GetForce","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"None_Fd4","temporalInterpolation":"PCHIP"},"components":["x","y","z"],"shape":[1,3],"values":[[-0.011965979,-0.039109334,0.08935673]]}',
  "post /api/datasets/{name}/GetVelocityAndPressure":
    '{"version":"...","operation":"GetVelocityAndPressure","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"Lag4","temporalInterpolation":"PCHIP"},"components":["x","y","z","p"],"shape":[1,4],"values":[[-0.13604717,0.040882856,0.26861674,0.5501388]]}',
  "post /api/datasets/{name}/GetVelocityGradient":
    '{"version":"...","operation":"GetVelocityGradient","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"None_Fd4","temporalInterpolation":"PCHIP"},"components":["duxdx","duxdy","duxdz","duydx","duydy","duydz","duzdx","duzdy","duzdz"],"shape":[1,9],"values":[[0.24971712,0.27387983,-0.12934072,-1.0218328,-0.06249576,0.6044878,1.5310893,0.8693183,-0.18494807]]}',
  "post /api/datasets/{name}/GetPressureGradient":
    '{"version":"...","operation":"GetPressureGradient","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"None_Fd4","temporalInterpolation":"PCHIP"},"components":["x","y","z"],"shape":[1,3],"values":[[-0.10648925,-0.096926674,0.26342547]]}',
  "post /api/datasets/{name}/GetPressureHessian":
    '{"version":"...","operation":"GetPressureHessian","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"None_Fd4","temporalInterpolation":"PCHIP"},"components":["d2pdxdx","d2pdxdy","d2pdxdz","d2pdydy","d2pdydz","d2pdzdz"],"shape":[1,6],"values":[[-0.19289824,-0.27722037,0.28037533,-0.030065393,-0.39946115,0.027931392]]}',
  "post /api/datasets/{name}/GetVelocityHessian":
    '{"version":"...","operation":"GetVelocityHessian","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"None_Fd4","temporalInterpolation":"PCHIP"},"components":["d2uxdxdx","d2uxdxdy","d2uxdxdz","d2uxdydy","d2uxdydz","d2uxdzdz","d2uydxdx","d2uydxdy","d2uydxdz","d2uydydy","d2uydydz","d2uydzdz","d2uzdxdx","d2uzdxdy","d2uzdxdz","d2uzdydy","d2uzdydz","d2uzdzdz"],"shape":[1,18],"values":[[1.9062774,1.138867,-1.1243241,0.3820829,-0.7430531,1.2849929,-4.132537,-1.6454867,1.281316,-1.3581245,0.5522868,-0.56469 ...',
  "post /api/datasets/{name}/GetVelocityLaplacian":
    '{"version":"...","operation":"GetVelocityLaplacian","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"None_Fd4","temporalInterpolation":"PCHIP"},"components":["x","y","z"],"shape":[1,3],"values":[[3.5733533,-6.0553546,2.637305]]}',
  "post /api/datasets/{name}/GetBoxFilterVelocity":
    '{"version":"...","operation":"GetBoxFilterVelocity","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"filterlength":0.4,"nlayers":1,"temporalInterpolation":"PCHIP"},"components":["x","y","z"],"shape":[1,3],"values":[[-0.1154053,0.005710164,0.28432062]]}',
  "post /api/datasets/{name}/GetBoxFilterPressure":
    '{"version":"...","operation":"GetBoxFilterPressure","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"filterlength":0.4,"nlayers":1,"temporalInterpolation":"PCHIP"},"components":["value"],"shape":[1,1],"values":[[0.5483872]]}',
  "post /api/datasets/{name}/GetBoxFilterVelocityGradient":
    '{"version":"...","operation":"GetBoxFilterVelocityGradient","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"filterlength":0.4,"nlayers":1,"temporalInterpolation":"PCHIP"},"components":["duxdx","duxdy","duxdz","duydx","duydy","duydz","duzdx","duzdy","duzdz"],"shape":[1,9],"values":[[0.22502229,0.24546546,-0.069721125,-1.0255145,-0.12366656,0.60178804,1.466415,0.83659905,-0.101717964]]}',
  "post /api/datasets/{name}/GetBoxFilterSGSStress":
    '{"version":"...","operation":"GetBoxFilterSGSStress","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"filterlength":0.4,"nlayers":1,"temporalInterpolation":"PCHIP"},"components":["xx","yy","zz","xy","xz","yz"],"shape":[1,6],"values":[[0.0018832181,0.019317161,0.03740018,-0.0045060613,0.007094423,-0.021912992]]}',
  "post /api/datasets/{name}/GetPositionInertialParticle":
    '{"version":"...","operation":"GetPositionInertialParticle","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"StartTime":0.4,"EndTime":0.5,"Tp":0.1,"spatialInterpolation":"Lag4","openFaces":"fail","integrator":"heun"},"components":["x","y","z"],"shape":[1,3],"values":[[0.98388875,2.0081856,3.0254424]]}',
  "post /api/datasets/{name}/GetPosition":
    '{"version":"...","operation":"GetPosition","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"StartTime":0.4,"dt":0.05,"nt":2,"spatialInterpolation":"Lag4","openFaces":"fail","integrator":"heun"},"components":["x","y","z"],"shape":[1,3],"values":[[0.98477054,2.007793,3.0251503]]}',
  "post /api/datasets/{name}/GetPositionParticleControl":
    '{"version":"...","operation":"GetPositionParticleControl","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"StartTime":0.4,"EndTime":0.5,"spatialInterpolation":"Lag4","openFaces":"fail","integrator":"heun"},"components":["x","y","z"],"shape":[1,3],"values":[[0.98477215,2.007785,3.0251565]]}',
  "post /api/datasets/{name}/GetMagneticField":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"GetMagneticField is available only for MHD datasets! \\"isotropic32\\" cannot answer GetMagneticField: it has no magnetic field.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetVectorPotential":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"GetVectorPotential is available only for MHD datasets! \\"isotropic32\\" cannot answer GetVectorPotential: it has no vector potential.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetPressure":
    '{"version":"...","operation":"GetPressure","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"Lag4","temporalInterpolation":"PCHIP"},"components":["p"],"shape":[1,1],"values":[[0.5501388]]}',
  "post /api/datasets/{name}/GetDensity":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"Invalid dataset specified! \\"isotropic32\\" cannot answer GetDensity: it has no density.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetTemperature":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"Invalid dataset specified! \\"isotropic32\\" cannot answer GetTemperature: it has no temperature.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetVelocityAndTemperature":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"Invalid dataset specified! \\"isotropic32\\" cannot answer GetVelocityAndTemperature: it has no temperature.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetMagneticFieldGradient":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"GetMagneticField is available only for MHD datasets! \\"isotropic32\\" cannot answer GetMagneticFieldGradient: it has no magnetic field.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetVectorPotentialGradient":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"GetVectorPotential is available only for MHD datasets! \\"isotropic32\\" cannot answer GetVectorPotentialGradient: it has no vector potential.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetDensityGradient":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"Invalid dataset specified! \\"isotropic32\\" cannot answer GetDensityGradient: it has no density.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetTemperatureGradient":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"Invalid dataset specified! \\"isotropic32\\" cannot answer GetTemperatureGradient: it has no temperature.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetMagneticHessian":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"GetMagnetic is available only for MHD datasets! \\"isotropic32\\" cannot answer GetMagneticHessian: it has no magnetic field.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetVectorPotentialHessian":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"GetMagnetic is available only for MHD datasets! \\"isotropic32\\" cannot answer GetVectorPotentialHessian: it has no vector potential.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetDensityHessian":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"Invalid dataset specified! \\"isotropic32\\" cannot answer GetDensityHessian: it has no density.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetTemperatureHessian":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"Invalid dataset specified! \\"isotropic32\\" cannot answer GetTemperatureHessian: it has no temperature.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetMagneticFieldLaplacian":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"GetMagneticField is available only for MHD datasets! \\"isotropic32\\" cannot answer GetMagneticFieldLaplacian: it has no magnetic field.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetVectorPotentialLaplacian":
    '{"type":"about:blank","title":"Unsupported","status":422,"detail":"GetVectorPotential is available only for MHD datasets! \\"isotropic32\\" cannot answer GetVectorPotentialLaplacian: it has no vector potential.","code":"Unsupported","member":"dataset","requestId":"..."}',
  "post /api/datasets/{name}/GetPositionByEnd":
    '{"version":"...","operation":"GetPositionByEnd","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"StartTime":0.4,"EndTime":0.5,"dt":0.05,"spatialInterpolation":"Lag4","openFaces":"fail","integrator":"heun"},"components":["x","y","z"],"shape":[1,3],"values":[[0.98477054,2.007793,3.0251503]]}',
  "post /api/datasets/{name}/GetThreshold":
    '{"version":"...","operation":"GetThreshold","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"vorticity","time":0.5,"threshold":12,"spatialInterpolation":"None_Fd4","x_start":1,"y_start":1,"z_start":1,"x_end":8,"y_end":8,"z_end":8},"components":["x","y","z","value"],"shape":[0,4],"values":[]}',
  "post /api/datasets/{name}/GetInvariant":
    '{"version":"...","operation":"GetInvariant","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"None_Fd4","temporalInterpolation":"PCHIP"},"components":["x","y","z"],"shape":[1,3],"values":[[2.4486887,2.2530172,-0.09783581]]}',
  "post /api/datasets/{name}/GetBoxFilter":
    '{"version":"...","operation":"GetBoxFilter","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"velocity","time":0.5,"filterwidth":0.6},"components":["x","y","z"],"shape":[1,3],"values":[[-0.087181725,-0.07355194,0.26251966]]}',
  "post /api/datasets/{name}/GetBoxFilterSGS":
    '{"version":"...","operation":"GetBoxFilterSGS","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"velocity","time":0.5,"filterwidth":0.6},"components":["xx","yy","zz","xy","xz","yz"],"shape":[1,6],"values":[[0.0046072504,0.04127761,0.06986304,-0.010712158,0.015324221,-0.04337787]]}',
  "post /api/datasets/{name}/GetBoxFilterSGSsymtensor":
    '{"version":"...","operation":"GetBoxFilterSGSsymtensor","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"velocity","time":0.5,"filterwidth":0.6},"components":["xx","yy","zz","xy","xz","yz"],"shape":[1,6],"values":[[0.0046072504,0.04127761,0.06986304,-0.010712158,0.015324221,-0.04337787]]}',
  "post /api/datasets/{name}/GetBoxFilterSGStensor":
    '{"type":"about:blank","title":"InvalidRequest","status":400,"detail":"Invalid field specified! It must be u, b, a, p, d, t or a name such as velocity, of a field that the dataset has, not \\"b\\".","code":"InvalidRequest","member":"field","requestId":"..."}',
  "post /api/datasets/{name}/GetBoxFilterSGSvector":
    '{"version":"...","operation":"GetBoxFilterSGSvector","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"up","time":0.5,"filterwidth":0.6},"components":["x","y","z"],"shape":[1,3],"values":[[-0.0016011762,0.006289766,-0.004790131]]}',
  "post /api/datasets/{name}/GetBoxFilterSGSscalar":
    '{"version":"...","operation":"GetBoxFilterSGSscalar","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"pp","time":0.5,"filterwidth":0.6},"components":["value"],"shape":[1,1],"values":[[0.0015793663]]}',
  "post /api/datasets/{name}/GetBoxFilterGradient":
    '{"version":"...","operation":"GetBoxFilterGradient","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"velocity","time":0.5,"filterwidth":0.6,"spacing":0.2},"components":["duxdx","duxdy","duxdz","duydx","duydy","duydz","duzdx","duzdy","duzdz"],"shape":[1,9],"values":[[0.21607096,0.26653436,-0.10078988,-0.97021466,-0.121901356,0.6405839,1.3215133,0.78824157,-0.09960271]]}',
  "post /api/datasets/{name}/GetLaplacianOfGradient":
    '{"version":"...","operation":"GetLaplacianOfGradient","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"velocity","time":0.5,"spatialInterpolation":"None_Fd4","temporalInterpolation":"PCHIP"},"components":["duxdx","duxdy","duxdz","duydx","duydy","duydz","duzdx","duzdy","duzdz"],"shape":[1,9],"values":[[-6.520718,-4.323097,6.494963,7.686395,-2.0086353,-2.8428807,-14.576181,-6.0357313,8.083771]]}',
  "post /api/datasets/{name}/GetVelocityBatch":
    '{"version":"...","operation":"GetVelocityBatch","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"Lag4","temporalInterpolation":"PCHIP"},"components":["x","y","z"],"shape":[1,3],"values":[[-0.13604717,0.040882856,0.26861674]]}',
  "post /api/datasets/{name}/GetField":
    '{"version":"...","operation":"GetField","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"velocity","time":0.5,"spatialInterpolation":"Lag4","temporalInterpolation":"PCHIP"},"components":["x","y","z"],"shape":[1,3],"values":[[-0.13604717,0.040882856,0.26861674]]}',
  "post /api/datasets/{name}/GetFieldGradient":
    '{"version":"...","operation":"GetFieldGradient","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"velocity","time":0.5,"spatialInterpolation":"None_Fd4","temporalInterpolation":"PCHIP"},"components":["duxdx","duxdy","duxdz","duydx","duydy","duydz","duzdx","duzdy","duzdz"],"shape":[1,9],"values":[[0.24971712,0.27387983,-0.12934072,-1.0218328,-0.06249576,0.6044878,1.5310893,0.8693183,-0.18494807]]}',
  "post /api/datasets/{name}/GetFieldHessian":
    '{"version":"...","operation":"GetFieldHessian","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"velocity","time":0.5,"spatialInterpolation":"None_Fd4","temporalInterpolation":"PCHIP"},"components":["d2uxdxdx","d2uxdxdy","d2uxdxdz","d2uxdydy","d2uxdydz","d2uxdzdz","d2uydxdx","d2uydxdy","d2uydxdz","d2uydydy","d2uydydz","d2uydzdz","d2uzdxdx","d2uzdxdy","d2uzdxdz","d2uzdydy","d2uzdydz","d2uzdzdz"],"shape":[1,18],"values":[[1.9062774,1.138867,-1.1243241,0.3820829,-0.7430531,1.2849929,-4.132537,-1.6454867,1.281316,-1.3581245,0. ...',
  "post /api/datasets/{name}/GetFieldLaplacian":
    '{"version":"...","operation":"GetFieldLaplacian","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"field":"velocity","time":0.5,"spatialInterpolation":"None_Fd4","temporalInterpolation":"PCHIP"},"components":["x","y","z"],"shape":[1,3],"values":[[3.5733533,-6.0553546,2.637305]]}',
  "post /api/NullOp":
    '{"version":"...","operation":"NullOp","options":{},"components":["x","y","z"],"shape":[1,3],"values":[[1,2,3]]}',
  "post /api/datasets/{name}/trajectories":
    '{"version":"...","operation":"GetPosition","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"StartTime":0.4,"dt":0.05,"nt":4,"spatialInterpolation":"Lag6","openFaces":"fail","integrator":"heun"},"times":[0.4,0.5,0.6],"components":["x","y","z"],"shape":[1,3,3],"values":[[[1,2,3],[0.9846806,2.007892,3.025133],[0.9717645,2.0144265,3.0497622]]]}',
  "get /api/datasets/{name}/slice": "64 bytes of application/octet-stream, 4,4",
  "get /api/datasets/{name}/volume": "256 bytes of application/octet-stream, 4,4,4",
  "get /api/datasets/{name}/cutout": "192 bytes of application/octet-stream, 1,4,4,3",
  "get /api/datasets/{name}/cutout.h5": "10068 bytes of application/x-hdf5",
  "get /api/datasets/{name}/cutout.xmf":
    '<?xml version="1.0"?>\n<Xdmf Version="2.0">\n  <Domain>\n    <Grid Name="isotropic32" GridType="Collection" CollectionType="Temporal">\n      <Grid Name="frame 1" GridType="Uniform">\n        <Time Value="-0.2"/>\n        <Topology TopologyType="3DRectMesh" Dimensions="4 4 4"/>\n        <Geometry GeometryType="VXVYVZ">\n          <DataItem Format="HDF" NumberType="Float" Precision="8" Dimensions="4">isotropic32-1-4_1-4_1-4-t1-1.h5:/xcoor</DataItem>\n          <DataItem Format="HDF" NumberType="Float" Precision="8" Dimensions="4">isotropic32-1-4_1-4_1-4-t1-1.h5:/ycoor</DataItem>\n          <DataItem Form ...',
  "post /api/batch":
    '{"results":[{"version":"...","operation":"GetVelocity","dataset":"isotropic32","manifest":"03a523bcccc8ced93ff89a7a3747418d964d956473dcf78cffe50afba5ade663","options":{"time":0.5,"spatialInterpolation":"Lag6","temporalInterpolation":"PCHIP"},"components":["x","y","z"],"shape":[1,3],"values":[[-0.13694313,0.04193955,0.26847944]]}\n]}',
};
